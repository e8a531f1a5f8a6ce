// What is told beside the drawing, below it and instead of it.

const callLink = (key, words) => calls.has(key) ? el('button', { className: 'link', onclick: () => go(key) }, words || key) : el('span', {}, words || key);
const links = list => between(list.map(k => callLink(k)), ', ');
const tone = ([words, kind, sign]) => el('span', { className: kind }, sign ? sign + ' ' + words : words);
const section = (title, ...children) => children.flat(Infinity).some(Boolean) ? el('section', {}, el('h3', {}, title), ...children) : null;
const items = list => list.length ? el('ul', {}, ...list.map(x => el('li', {}, x))) : null;
const fact = (name, ...value) => value.flat(Infinity).filter(x => x !== '' && x != null).length ? [el('span', {}, name), el('div', {}, ...value)] : [];
const json = value => {
  const text = JSON.stringify(value, null, 1);
  return text.length < 70 ? el('code', {}, JSON.stringify(value)) : el('pre', {}, brief(JSON.stringify(value, null, 2), 20000));
};

// sources says who wrote what a value is read from.
function sources(c, list) {
  return (list || []).map(s => el('div', {}, el('code', {}, s.path === '†*' ? 'all other messages of the context' : s.path || 'all'), ' ← ',
    s.calls ? links(s.calls.map(name => c.prefix + name)) : '', s.more ? ' and ' + s.more + ' more' : '',
    s.start ? (s.calls ? ', or ' : '') + 'there from the start' : ''));
}
// value is a parameter, or a part of the output: what it is, and where it comes from.
function value(c, v, name) {
  const plain = v.sources && v.sources.length === 1 && v.sources[0].path === v.expression;
  return [el('dt', {}, v.path || name), el('dd', {}, 'literal' in v ? json(v.literal) : plain ? '' : el('code', {}, v.expression), sources(c, v.sources), chosen(c, v))];
}
// chooser is a call of a model, of the plan that a call stands in or of one above; one of a plan below is named alone.
function chooser(c, name) {
  const above = calls.get(c.prefix.slice(0, -1)), own = above ? above.runs.plan + ': ' : '';
  const key = c.prefix + name.slice(own.length);
  return name.startsWith(own) && calls.has(key) ? callLink(key) : above ? chooser(above, name) : callLink(name);
}
// chosen says which models may have chosen a value.
const chosen = (c, v) => !v.models ? '' : el('b', {}, 'chosen by ', v.models[0] === '†' ? 'models' : [between(v.models.map(name => chooser(c, name)), ', '), v.models.length > 1 ? ', models' : ', a model']);
const allChosen = c => (c.values || []).filter(v => v.models).map(v => ['; ', v.path, ' ', chosen(c, v)]);
// condition is what must hold for a call to run.
function condition(c, x) {
  const named = calls.has(c.prefix + x.text) ? callLink(c.prefix + x.text, x.text) : el('code', {}, x.text);
  return [x.words + ' ', x.text ? named : '', x.more ? ' ' + x.more : '', x.path ? [' ', el('code', {}, x.path)] : ''];
}
// conditions are all that must hold for a call to run; first what must for the call that runs the plan it stands in.
const conditions = (c, of) => {
  const above = calls.get(c.prefix.slice(0, -1));
  return [...above ? conditions(above, true) : [], ...(c.conditions || []).map(x => of ? [condition(c, x), ', for ', callLink(c.key)] : condition(c, x))];
};
// setsOff says which calls a no to a person's question may set off: those that wait for its failure
// and, where nothing handles that, those that wait for the failure of a call whose plan it stands in.
const setsOff = c => {
  const told = [];
  for (let at = c; at && !(at.each && at.each.collect); at = (at.writes || []).length > 1 ? null : calls.get(at.prefix.slice(0, -1))) {
    const then = callsThat(x => x.prefix === at.prefix && (x.conditions || []).some(on => on.text === at.call && on.more === 'fails, or writes' || (on.path || '').includes(', or if ' + at.call + ' fails, or writes')));
    if (then.length) told.push([links(then.map(x => x.key)), at === c ? '' : [', since ', callLink(at.key), ' fails']]);
  }
  return told.length ? ['; a no, like a failure, may set off ', between(told, '; ')] : '';
};
const effectWords = c => [tone(effectOf(c)), c.effect.by && c.runs.kind !== 'plan' ? ', declared by ' + c.effect.by : '',
  c.effect.claimed ? el('div', { className: 'small' }, c.effect.untrusted ? 'the workspace declares: ' + c.effect.claimed + ', but isn’t trusted' : 'the plan declares: ' + c.effect.claimed + ', which has no effect') : ''];
const finding = f => el('div', { className: 'finding ' + f.severity }, el('b', {}, f.severity + ' ' + f.code + ': '), f.message, f.help ? el('div', { className: 'small' }, f.help) : '');

let overviewed = null; // it is the same at every moment
function panel() {
  const c = calls.get(now.key);
  fill($('panel'), el('div', { className: 'top' },
    el('button', { onclick: overview, 'aria-pressed': String(!c) }, 'Overview'),
    c ? el('button', { onclick: () => { if (now.view !== 'drawing') view('drawing'); go(c.key); reveal(c.place); } }, 'Show in the drawing') : ''),
  ...(c ? about(c) : now.group ? together(now.group) : overviewed ||= review()));
}

// together lists the calls that are one box.
const together = b => [
  el('h2', {}, count(b.calls.length, 'call') + ' in one box'), el('p', {}, doings(b.calls) || 'none of them destroys, leaves or asks'),
  items(few([...b.calls].sort((x, y) => filters.d[1](y) - filters.d[1](x)).map(c => [callLink(c.key), ' ', small(...effectWords(c), c.confirm ? ' · a person is asked' : '')]))),
];

// about is all that is known of a call.
function about(c) {
  const t = tool(c) || {}, other = data.scenarios ? data.scenarios.findIndex(s => s.fails === c.key) : -1;
  const folded = (name, what) => what ? el('details', {}, el('summary', {}, name), json(what)) : null;
  return [
    el('h2', {}, c.key), t.description ? el('p', {}, t.description) : null,
    section('What it does', el('div', { className: 'fact' }, doing(c))),
    section('Happened', happened(c), other > 0 && other !== now.scenario ? el('p', {}, el('button', { onclick: () => setScenario(other) }, 'What if it fails?')) : null),
    section('Parameters', (c.values || []).length ? el('dl', {}, ...c.values.map(v => value(c, v, 'all'))) : null),
    section('Also receives', (c.context || []).length ? sources(c, c.context) : null),
    section('Findings', (c.findings || []).map(finding)),
    section('Schema', folded('parameters', t.parameters), folded('result', t.output)),
    section('Source', c.at ? el('p', { className: 'small' }, c.at.file + ', line ' + c.at.line) : null),
  ];
}

function doing(c) {
  return [
    fact('tool', c.tool), fact('effect', effectWords(c)),
    fact('runs', 'produced' in c ? ['nothing: its result is given', c.answered ? ', by a model' : '', ' ', json(c.produced)] : el('code', {}, c.to), c.runs.folder && c.runs.folder !== '.' ? ' in ' + c.runs.folder : ''),
    fact('leaves to', c.leaves ? el('b', {}, c.to) : ''),
    fact('sends', between((c.sends || []).map(s => el('code', {}, s)), ', ')),
    fact('only', between(conditions(c), el('br'))),
    fact('writes', between((c.writes || []).map(w => el('code', {}, w.join(', '))), ' or '), c.method ? ' (' + c.method + ')' : ''),
    fact('then', firstLinks(keys.next.get(c.key), 60)),
    fact('at most', c.each ? count(c.each.most, 'time') : ''),
    fact('attempts', c.tries ? 'up to ' + c.tries + (c.backoff ? ', ' + plainly(c.backoff) + ' between' : '') : ''),
    fact('stopped', c.timeout ? 'after ' + plainly(c.timeout) : ''), fact('asks', c.confirm ? ['a person, in any case', setsOff(c)] : ''), fact('why', c.reasoning || ''),
  ];
}

const tones = { failed: 'caution', rejected: 'caution', handled: 'caution', running: 'working', asked: 'working', done: 'fine' };

// happened is what became of a call so far: of each of its items and instances.
function happened(c) {
  const all = now.play ? now.play.of(c.key) : [];
  return all.slice(0, 50).map(r => {
    const s = now.moment < 0 ? 'waiting' : now.play.state(r, now.moment), begun = s !== 'waiting';
    const span = r.from !== undefined && begun ? ' from ' + duration(r.from) : '';
    const line = [r.label ? el('b', {}, r.label + ': ') : '', el('span', { className: tones[s] || 'muted' }, states[s].join(' ').trim()), span];
    const asked = r.askedAt !== undefined && begun ? el('div', {}, 'a person was asked at ' + duration(r.askedAt)) : '';
    if (r.ended === undefined || now.moment < r.ended) return el('div', {}, line, asked);
    const d = r.decision;
    return el('div', {}, line, span ? ' to ' + duration(r.to) : '', r.tries > 1 ? ', attempt ' + r.tries : '', asked,
      d ? el('div', {}, 'decided: ' + d.verdict + (d.by ? ' by ' + d.by : '') + (d.reason ? ' (' + d.reason + ')' : ''), d.params ? json(d.params) : '') : '',
      r.reason ? el('div', {}, r.reason) : '', r.error ? el('div', { className: 'caution' }, r.error.code + ': ' + r.error.message) : '',
      r.output != null ? el('details', {}, el('summary', {}, 'result: ', el('code', {}, brief(r.output, 60))), json(r.output)) : '');
  }).concat(all.length > 50 ? [all.length - 50 + ' more'] : []);
}

// firstLinks are links to the first of many calls.
const firstLinks = (list, most) => [links(list.slice(0, most)), list.length > most ? ' and ' + (list.length - most) + ' more' : ''];
const few = list => list.length > 40 ? [...list.slice(0, 40), el('span', { className: 'muted' }, list.length - 40 + ' more; the table has them all')] : list;
const small = (...words) => el('span', { className: 'small' }, ...words);
const underConditions = c => conditions(c).length ? [' · ', between(conditions(c), '; ')] : '';
const listed = list => list.length ? items(few(list)) : el('p', {}, 'nothing');
const callsThat = test => data.calls.filter(test);

// review answers what a reviewer asks of the plan as a whole.
function review() {
  const found = [...data.findings.map(f => [f, null]), ...data.calls.flatMap(c => (c.findings || []).map(f => [f, c]))];
  const grouped = test => { // those of one rule and help together
    const groups = Map.groupBy(found.filter(([f]) => test(f)), ([f]) => f.code + f.help);
    return few([...groups.values()].map(all => [firstLinks(all.flatMap(([, c]) => c ? [c.key] : []), 30),
      finding(all.length > 1 ? { ...all[0][0], message: all.length + ' times; the first: ' + all[0][0].message } : all[0][0])]));
  };
  const p = playOf(0), run = data.kind !== 'simulation' && p;
  return [
    data.card ? el('section', { id: 'card' }, ...data.card.map((row, i) => [i ? el('h3', { className: { '▲': 'danger', '↗': 'caution' }[row.sign] || '' }, ((row.sign || '').replace('✋', '?') + ' ' + row.text).trim()) : el('h2', {}, row.text), row.rows ? items(row.rows.map(r => r.text)) : ''])) : null,
    data.notes.length ? el('p', { className: 'muted' }, between(data.notes, '; ')) : null,
    section(run ? 'What was destroyed, or would have been' : 'What is destroyed', destroyed(run)),
    section('Findings', grouped(f => f.severity !== 'info')),
    section('What leaves this machine, and to where', leaving()),
    section('What came from a model', fromModels()),
    section('When something fails, or goes otherwise', failures()),
    section('Time and cost', howLong(p)),
    section('Output', (data.output || []).length ? el('dl', {}, ...data.output.map(v => value({ prefix: data.prefix }, v, 'output'))) : null),
    section('Notes', grouped(f => f.severity === 'info')),
    section('Signs', small(importance.filter(s => states[s][0]).map(s => states[s].join(' ')).join(' · '), ' · ★ critical path · ▲ destroys · △ effect unknown · ↗ leaves · ? asks a person · ✎ writes · ✦ a model')),
    section('Keys', small('/ search · ↓ ↑ along the edges · ← → beside · Enter details · Esc back · [ ] a moment back, on · f F the next failure, the one before · ',
      'w what if, x as usual · d l a only what destroys, leaves, asks · o all calls, or fewer boxes · c critical path · + − 0 zoom · 1 2 3 drawing, timeline, table')),
  ];
}

// destroyed lists what destroys, first what is sure; of a run with what became of it.
function destroyed(run) {
  const all = kind => callsThat(c => c.effect.kind === kind && acts(c));
  return listed([...all('destructive'), ...all('unknown')].map(c => [callLink(c.key), ' ', run ? el('b', {}, states[run.final(c.key)].join(' ').trim() + ' · ') : '', small(...effectWords(c), allChosen(c), c.confirm ? [' · a person is asked', setsOff(c)] : '', underConditions(c))]));
}

function leaving() {
  const given = c => [...new Set([...(c.values || []).flatMap(v => v.sources || []), ...c.context || []].map(s => s.path === '†*' ? 'all other messages' : s.path))].join(', ') || 'nothing';
  return listed(callsThat(c => c.leaves && c.runs.kind !== 'model').map(c => [callLink(c.key), ' → ', el('code', {}, c.to),
    small(' with ', (c.values || []).map(v => v.path).join(', ') || 'nothing', allChosen(c), underConditions(c))])
    .concat(callsThat(c => c.leaves && c.runs.kind === 'model').map(c => [callLink(c.key), ' → a model', small(' with ', given(c), underConditions(c))])));
}

function fromModels() {
  const list = callsThat(c => c.runs.kind === 'model' || c.answered);
  return listed([...list.map(c => [callLink(c.key), keys.next.get(c.key).length ? [small(', read by '), firstLinks(keys.next.get(c.key), 12)] : '']),
    ...data.planned ? ['the calls themselves: a model plans'] : [], ...data.advisors.length ? ['advice of ' + data.advisors.join(', ')] : []]);
}

function howLong(p) {
  const bound = (name, b, show) => name + (b.most == null ? ': unbounded' : ': at most ' + show(b.most));
  const path = p ? p.path() : [], plain = n => +n.toPrecision(6);
  return items([
    p ? (data.kind === 'simulation' ? 'simulated without failures: ' : 'took ') + duration(p.length) + (p.cost ? ', cost ' + plain(p.cost) : '') + (p.status ? ', ' + p.status : '') : '',
    path.length ? ['critical path' + (p.criticalInstance ? ' of ' + p.criticalInstance : '') + ': ', between(path.slice(0, 30).map(k => callLink(k)), ' → '), path.length > 30 ? ' … ' + (path.length - 30) + ' more' : ''] : '',
    bound('time', data.worst.time, n => duration(n * 1000)), bound('cost', data.worst.cost, plain), bound('calls', data.worst.calls, plain), bound('attempts', data.worst.tries, plain),
  ].filter(Boolean));
}

const course = n => el('button', { className: 'link', onclick: () => setScenario(n) }, data.scenarios[n].name);

// done is what a simulation or a run has carried out that can't be taken back: destroyed, or sent; before a call fails, and after it.
function done(p) {
  const failed = Math.min(...(p.records.get(p.fails) || []).map(r => r.ended ?? Infinity));
  const list = (test, late) => data.calls.filter(c => c.key !== p.fails && acts(c) && test(c) && (p.records.get(c.key) || []).some(r => r.begun !== undefined && r.begun > failed === late)).map(c => c.key);
  const harms = c => c.effect.kind === 'destructive', sends = c => c.leaves && !harms(c);
  const part = (words, keys, tone) => keys.length ? [[el('span', { className: tone }, words + ': '), firstLinks(keys, 8)]] : [];
  const before = p.fails ? 'already ' : '';
  return [...part('▲ ' + before + 'destroyed', list(harms, false), 'danger'), ...part('▲ still destroys', list(harms, true), 'danger'),
    ...part('↗ ' + before + 'sent', list(sends, false), 'caution'), ...part('↗ still sends', list(sends, true), 'caution')];
}

// outcome is what a simulation has otherwise than the first one: what is skipped, and what runs.
const outcomes = [];
function outcome(n) {
  if (outcomes[n]) return outcomes[n];
  const a = playOf(0), b = playOf(n), off = [], on = [];
  const idle = new Set(['skipped', 'cancelled', 'waiting']);
  for (const c of data.calls) {
    if (c.key === b.fails) continue;
    const was = idle.has(a.final(c.key)), is = idle.has(b.final(c.key));
    if (is && !was) off.push(c.key);
    if (!a.ran(c.key) && b.ran(c.key)) on.push(c.key); // a call that a person rejects hasn't run
  }
  const usual = new Set(a.left().map(r => r.key));
  const some = [...new Set(b.left().map(r => r.key))].filter(k => !usual.has(k) && !off.includes(k)); // of whose items some are skipped only then
  return outcomes[n] = { off, on, some, play: b };
}
function failures() {
  if (!data.scenarios || data.kind !== 'simulation') return null;
  const list = data.scenarios.map((s, i) => i && !s.together ? [i, outcome(i)] : null).filter(Boolean);
  const alike = new Set(), once = list.filter(([n, o]) => { // items of a list of which nothing else is to be told
    const words = JSON.stringify([data.scenarios[n].name.replace(/\[\d+\]/g, ''), o.play.status, o.on, o.off, o.some]);
    return !alike.has(words) && alike.add(words);
  });
  const plays = data.scenarios.map((s, i) => playOf(i));
  const idle = data.calls.map(c => c.key).filter(k => !plays.some(p => p.ran(k) || p.final(k) === 'done'));
  once.sort((a, b) => (b[1].on.length > 0) - (a[1].on.length > 0)); // first what the plan does something about
  return [
    items(once.slice(0, 25).map(([n, o]) => [course(n), ': the plan ' + ends(o.play.status),
      o.on.length ? ['; then ', firstLinks(o.on, 8), o.on.length > 1 ? ' run' : ' runs'] : '', o.off.length ? ['; skipped: ', firstLinks(o.off, 8)] : '', o.some.length ? ['; skipped are items of ', firstLinks(o.some, 8)] : '', done(o.play).map(x => el('div', { className: 'small' }, x))])),
    once.length > 25 ? el('p', { className: 'muted' }, '“What if…” above the drawing has all of them, and several at once') : null,
    idle.length ? el('p', { className: 'caution' }, 'Ran in no simulation here: ', firstLinks(idle, 20), '. Other input may reach them.') : null,
  ];
}

// told says above the drawing what is set to go otherwise, and what comes of it.
function told(but) {
  const n = now.scenario, o = n > 0 ? outcome(n) : null, p = now.play;
  $('told').hidden = !now.set.size && !but;
  const met = new Map(p.picks || []);
  const chips = [...now.set].map(([choice, option]) => el('button', { className: 'chip', onclick: () => setSwitch(choice, 0), 'aria-label': 'take back: ' + data.choices[choice][option] },
    data.choices[choice][option] + (met.has(choice) ? '' : ' (not reached)') + ' ✕'));
  const left = o ? p.left() : [], off = o ? o.off.filter(k => !left.some(r => r.key === k)) : []; // of a list it is told item by item
  const skipped = [...off.map(k => [k, k, p.why(k)]), ...left.map(r => [r.key, r.label, r.reason])].map(([k, words, why]) => el('li', {}, callLink(k, words), ' is skipped' + (why ? ': ' + why : '')));
  fill($('told'), but ? el('p', { className: 'caution' }, but) : '', now.set.size ? [el('b', {}, 'What if '), between(chips, ' and '), '? ',
    'The plan ' + ends(p.status) + ' after ' + duration(p.length) + (p.reason ? ' (' + p.reason + ')' : '') + '. ',
    o && o.on.length ? ['Only then: ', firstLinks(o.on, 20), '. '] : '', o ? el('span', { id: 'already' }, between(done(p), ' · '), ' ') : '', el('button', { id: 'clear', onclick: () => setScenario(0) }, 'As usual (x)'),
    skipped.length ? el('ul', { id: 'skipped' }, ...skipped.slice(0, 30), skipped.length > 30 ? el('li', {}, skipped.length - 30 + ' more') : '') : ' Nothing is skipped because of it.'] : '');
}

// switches lists what may go otherwise, each option with a box to tick.
let boxes = null;
function switches(open) {
  const list = $('switches');
  list.hidden = !open;
  $('what-if').setAttribute('aria-expanded', open);
  if (!open) return;
  if (!boxes) {
    boxes = data.choices.flatMap((options, choice) => options.slice(1).map((words, i) => {
      const box = el('input', { type: 'checkbox', onchange: () => setSwitch(choice, box.checked ? i + 1 : 0) });
      return { box, choice, option: i + 1, words: words.toLowerCase(), line: el('label', {}, box, ' ' + words) };
    }));
    const filter = el('input', { id: 'switch-filter', type: 'search', placeholder: 'what may go otherwise', 'aria-label': 'narrow the list of what may go otherwise', autocomplete: 'off',
      oninput: () => { for (const b of boxes) b.line.hidden = !b.words.includes(filter.value.toLowerCase()); } });
    fill(list, el('div', { className: 'group' }, filter, el('button', { onclick: () => setScenario(0) }, 'As usual (x)'), el('button', { onclick: () => switches(false) }, 'Close')),
      el('div', { className: 'boxes' }, ...boxes.map(b => b.line)));
    switched();
  }
  $('switch-filter').focus();
}
// switched brings the boxes to what is set.
function switched() {
  $('what-if').textContent = '⇄ What if…' + (now.set.size ? ' (' + now.set.size + ')' : '');
  for (const b of boxes || []) b.box.checked = now.set.get(b.choice) === b.option;
}

// table is the plan without a drawing.
function table() {
  const head = ['call', 'tool', 'effect', 'leaves to', 'only', 'reads from', 'writes', 'state'];
  const only = now.only && filters[now.only][1];
  const row = c => {
    const s = now.play && now.moment >= 0 ? now.play.at(c.key, now.moment) : null;
    const cells = [c.tool, effectWords(c), c.leaves ? c.to : '', between(conditions(c), '; '), links(keys.before.get(c.key) || []),
      (c.writes || []).map(w => w.join(', ')).join(' or '), s ? (states[s.state][0] + ' ' + s.words).trim() : ''];
    return el('tr', { className: c.key === now.key ? 'chosen' : '' }, el('th', { scope: 'row' }, callLink(c.key)), ...cells.map(x => el('td', {}, x)));
  };
  fill($('table'), el('table', {}, el('caption', {}, (only ? 'only: ' + filters[now.only][0] : count(data.calls.length, 'call')) + ', in the order of the text'),
    el('thead', {}, el('tr', {}, ...head.map(h => el('th', { scope: 'col' }, h)))), el('tbody', {}, ...data.calls.filter(c => !only || only(c)).map(row))));
}

// timeline is when each call was at work, in the order of their starts.
function timeline() {
  const p = now.play;
  if (!p) { fill($('time'), el('p', {}, 'A plan with errors isn’t simulated.')); return; }
  const end = p.length || 1, at = now.moment < 0 ? 0 : p.moments[now.moment].at, path = new Set(p.path());
  const start = r => r.askedAt ?? r.from ?? r.to ?? 0;
  const all = [...p.byName.values()].filter(r => !now.instance || r.instance === now.instance || !r.instance).sort((a, b) => start(a) - start(b));
  const step = stepOf(end), place = (e, at) => { e.style.left = Math.min(100, 100 * at / end) + '%'; return e; };
  const row = r => {
    const lane = el('div', { className: 'lane' }), s = p.state(r, p.events.length - 1), last = r.to ?? end, said = [];
    const bar = (from, to, kind, words) => {
      const b = place(el('span', { className: 'bar ' + kind, title: words }), from);
      b.style.width = Math.max(.2, 100 * (to - from) / end) + '%';
      lane.append(b);
      said.push(words);
    };
    if (r.askedAt !== undefined) bar(r.askedAt, r.from ?? last, 'asked', '? ' + duration((r.from ?? last) - r.askedAt));
    if (r.from !== undefined) {
      const tries = r.starts.length > 1 ? ', ' + count(r.starts.length, 'attempt') : '';
      bar(r.from, last, s + (p.decides(r, path) ? ' critical' : ''), (states[s][0] + ' ' + duration(last - r.from)).trim() + tries);
      for (const at of r.starts.slice(1)) lane.append(place(el('span', { className: 'try', title: 'another attempt' }), at));
    } else if (r.to !== undefined) said.push(states[s].join(' '));
    // What is said stands behind the bar, or before it where there is more room.
    const from = 100 * start(r) / end, to = 100 * last / end, words = el('span', { className: 'said' }, said.join(' '));
    if (from > 100 - to && to > 60) words.style.right = 'calc(' + (100 - from) + '% + 4px)'; else words.style.left = 'calc(' + Math.min(100, to) + '% + 4px)';
    lane.append(words, place(el('span', { className: 'now' }), at));
    return el('div', { className: 'row' }, el('button', { className: 'link', onclick: () => choose(r.key), title: r.label || r.key }, r.label || r.key), lane);
  };
  const axis = el('div', { className: 'lane' });
  for (let t = 0; t <= end * .98; t += step) axis.append(place(el('span', { className: 'tick' }, duration(t)), t));
  fill($('time'), el('p', { className: 'small' }, duration(0) + ' to ' + duration(end) + (path.size ? '; a thick line below: the critical path' : '')), el('div', { className: 'row axis' }, el('span'), axis), ...all.slice(0, 3000).map(row),
    all.length > 3000 ? el('p', {}, all.length - 3000 + ' more') : '');
  $('time').style.setProperty('--step', 100 * step / end + '%');
}
// stepOf is a round length of time of which a whole has at most eight.
function stepOf(whole) {
  let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5].find(s => whole / s <= 8) || 36e5;
  while (whole / step > 8) step *= 2;
  return step;
}

// theme is light or dark whatever the reader's system prefers, or "" for that; the drawing
// has colours of its own for both.
function theme(name) {
  document.documentElement.dataset.theme = name;
  for (const style of canvas.querySelectorAll('style')) {
    for (const rule of style.sheet.cssRules) if (rule instanceof CSSMediaRule) rule.media.mediaText = { dark: 'all', light: 'not all' }[name] || '(prefers-color-scheme: dark)';
  }
}
const otherTheme = () => theme((document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : '')) === 'dark' ? 'light' : 'dark');
function critical() {
  now.critical = !now.critical;
  $('critical').setAttribute('aria-pressed', now.critical);
  refresh();
}
// escape leads back to the drawing, and from there to the overview.
function escape() {
  const c = calls.get(now.key);
  if (c && c.place && !drawing.contains(document.activeElement)) c.place.g.focus({ preventScroll: true }); else overview();
}

const press = {
  fold: () => { draw(shown === full ? data.drawings[1] : full); overview(); },
  'show-drawing': () => view('drawing'), 'show-time': () => view('time'), 'show-table': () => view('table'), in: () => zoom(.8), out: () => zoom(1.25), all: () => fit(true), theme: otherTheme,
  'what-if': () => switches($('switches').hidden), critical, back: () => setMoment(now.moment - 1), on: () => setMoment(now.moment + 1), failure: () => jump(1, m => m.failed),
};
const letters = {
  '/': () => $('search').focus(), '[': press.back, ']': press.on, f: press.failure, F: () => jump(-1, m => m.failed), c: critical, o: () => { if (data.drawings[1]) press.fold(); }, w: () => switches(true), x: () => { if (now.set.size) setScenario(0); }, '+': press.in, '-': press.out, 0: press.all,
  1: press['show-drawing'], 2: press['show-time'], 3: press['show-table'], Escape: escape,
};
for (const [id, what] of Object.entries(press)) $(id).addEventListener('click', what);
for (const [key, [words, test]] of Object.entries(filters)) {
  const n = data.calls.filter(test).length;
  letters[key] = () => { if (n) alone(key); };
  if (n) $('only').append(el('button', { 'data-key': key, 'aria-pressed': 'false', onclick: letters[key] }, words + ' ' + n));
}
$('slider').addEventListener('input', () => setMoment(+$('slider').value));
$('switches').addEventListener('keydown', e => { if (e.key === 'Escape') { switches(false); $('what-if').focus(); e.stopPropagation(); } });
$('instance').addEventListener('change', () => { now.instance = $('instance').value; refresh(); });
$('to-table').addEventListener('click', e => { e.preventDefault(); view('table'); $('table').focus(); });
document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input:not([type=range], [type=checkbox]), textarea, select')) return;
  const what = letters[e.key];
  if (what) { what(); e.preventDefault(); }
});
addEventListener('hashchange', fromAddress);
new ResizeObserver(() => { if (matchMedia('print').matches) return; measure(); look({ ...box, h: box.w * ratio() }); }).observe(drawing);
let ownTheme = '';
addEventListener('beforeprint', () => {
  ownTheme = document.documentElement.dataset.theme || '';
  theme('light');
  $('drawing').hidden = $('table').hidden = false;
  look({ ...shown.page });
  table();
});
addEventListener('afterprint', () => { theme(ownTheme); view(now.view); fit(); });

draw(shown);
$('fold').hidden = full === shown;
const scenarios = data.scenarios || [];
for (const id of ['critical', 'slider', 'back', 'on', 'failure', 'show-time']) $(id).hidden = !scenarios.length;
$('what-if').hidden = scenarios.length < 2;
if (scenarios.length) setScenario(0); else refresh();
measure(); // now that the header has all its buttons
fit();
fromAddress();
