// A run that goes on: its events come as they happen, and what it asks is answered here.

const asked = new Map();  // open questions by number: their elements
const drafts = new Map(); // what was written into the fields of a question, by its call
const desk = el('div', { id: 'questions', tabIndex: -1, role: 'region', 'aria-label': 'questions of the run', 'aria-live': 'polite' });

// field is where a parameter can be changed, by its schema: a text, a number, a box to tick, a choice, or JSON for all else.
function field(key, schema, q) {
  const given = Object.hasOwn(q.params, key), was = q.params[key], id = 'p-' + q.number + '-' + key;
  const type = schema.enum ? 'enum' : schema.type ?? (given ? typeof was : '');
  const kind = ['string', 'boolean'].includes(type) && (!given || typeof was === type) ? type : ['integer', 'number'].includes(type) && (!given || typeof was === 'number') ? 'number' : type === 'enum' ? type : 'json';
  const first = kind === 'json' || kind === 'enum' ? given ? JSON.stringify(was, null, kind === 'json' ? 2 : 0) : '' : String(was ?? '');
  const input = kind === 'enum' ? el('select', { id }) : kind === 'boolean' ? el('input', { id, type: 'checkbox' })
    : kind === 'number' ? el('input', { id, inputMode: 'decimal' }) : kind === 'json' || first.length > 60 || first.includes('\n') ? el('textarea', { id, spellcheck: false }) : el('input', { id });
  if (kind === 'enum') fill(input, ...[...new Set([first, ...schema.enum.map(x => JSON.stringify(x))])].map(x => el('option', { value: x }, x)));
  const text = () => kind === 'boolean' ? String(input.checked) : input.value;
  const set = value => { if (kind === 'boolean') input.checked = value === 'true'; else input.value = value; };
  set(first);
  const before = text();
  const parse = () => {
    if (kind === 'string' || kind === 'boolean') return kind === 'string' ? text() : input.checked;
    if (kind === 'number' && (!text().trim() || Number.isNaN(+text()))) throw Error('“' + text() + '” is not a number');
    return kind === 'number' ? +text() : JSON.parse(text());
  };
  const value = () => {
    if (text() === before || !given && text() === '') return text() === before ? was : undefined;
    try { return parse(); } catch (e) { input.focus(); throw Error(key + ': ' + e.message); }
  };
  const said = q.plan && q.plan[key] && q.plan[key] !== brief(was ?? null, 300) ? [el('code', {}, q.plan[key]), ', now '] : '';
  return { key, input, text, set, value, changed: () => text() !== before, row: el('div', { className: 'field' }, el('label', { htmlFor: id }, key), input,
    el('span', { className: 'small' }, 'the plan: ', said, el('code', {}, given ? brief(was, 200) : 'not given'), schema.description ? ' · ' + schema.description : '')) };
}

const dangers = { destructive: ['▲ This call destroys: what it does can’t be undone.', 'danger'], unknown: ['△ The effect of this call is unknown: it may destroy.', 'caution'] };

// question shows what would run in full, and takes one answer. What isn't shown whole is
// let run by nobody: once the text has been scrolled to its end, or all of it opened.
function question(q) {
  const note = el('p', { role: 'alert', className: 'caution' }), c = calls.get(q.key), past = done(now.play), props = (q.schema || {}).properties || {};
  const box = el('section', { className: 'question' + (q.effects === 'destructive' ? ' grave' : '') });
  const text = el('pre', { tabIndex: 0, role: 'region', 'aria-label': 'what would run as ' + q.key }, q.text.replace(/[ \n]+$/, ''));
  const names = q.params ? [...new Set([...Object.keys(props).filter(k => k[0] !== '_'), ...Object.keys(q.params)])] : [];
  const fields = names.map(k => field(k, props[k] && typeof props[k] === 'object' ? props[k] : {}, q)), changed = () => fields.some(f => f.changed());
  let whole = false;
  const approve = el('button', { className: 'approve', onclick: () => {
    if (q.again || !changed()) return answer({ verdict: q.again ? 'retry' : 'approve' });
    try { answer({ verdict: 'change', params: Object.fromEntries(fields.map(f => [f.key, f.value()]).filter(([, v]) => v !== undefined)) }); } catch (e) { note.textContent = clean(e.message); }
  } });
  const seen = () => {
    whole ||= text.clientHeight > 0 && text.scrollTop + text.clientHeight >= text.scrollHeight - 2;
    approve.disabled = !whole;
    rest.hidden = whole;
    approve.textContent = q.again ? 'Run it again' : changed() ? '✓ Approve with changes' : '✓ Approve';
  };
  const rest = el('p', { className: 'caution' }, 'There is more of it: scroll to its end, or ', el('button', { onclick: () => { text.classList.add('whole'); whole = true; seen(); approve.focus(); } }, 'show all of it'), ', to approve it.');
  const answer = async decision => {
    drafts.set(q.key, fields.filter(f => f.changed()).map(f => [f.key, f.text()]));
    for (const b of box.querySelectorAll('button')) b.disabled = true;
    let failed = '';
    try {
      const r = await fetch('answer', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ id: q.id, ...decision }) });
      failed = await r.text();
    } catch (e) { failed = 'the run can’t be reached any more'; }
    note.textContent = failed ? clean(failed) : 'answered';
    if (failed) { for (const b of box.querySelectorAll('button')) b.disabled = false; seen(); }
  };
  const reason = el('input', { placeholder: 'why, in words', 'aria-label': 'reason' });
  for (const [key, value] of drafts.get(q.key) || []) for (const f of fields) if (f.key === key) f.set(value);
  for (const f of fields) f.input.addEventListener('input', seen);
  text.addEventListener('scroll', seen);
  const after = c ? setsOff(c) : '';
  add(box, [el('h2', { tabIndex: -1 }, 'The run asks about ' + q.key), q.problem ? el('p', { role: 'alert', className: 'problem' }, 'That answer can’t be used: ' + q.problem) : '',
    dangers[q.effects] ? el('p', { className: dangers[q.effects][1] + ' banner' }, dangers[q.effects][0]) : '', text, rest,
    fields.length ? el('fieldset', {}, el('legend', {}, 'Its parameters'), ...fields.map(f => f.row), el('details', {}, el('summary', {}, 'their schema'), json(q.schema || {}))) : '',
    past.length ? el('p', { className: 'small' }, 'By now the run has ', between(past, ' · ')) : '', after ? el('p', { className: 'small' }, 'If you reject it: it fails', after.slice(1)) : '',
    el('div', { className: 'group answers' }, approve, q.again ? el('button', { onclick: () => answer({ verdict: 'fail' }) }, 'Count it as failed')
      : [el('button', { onclick: () => answer({ verdict: 'reject', reason: reason.value || undefined }) }, '✗ Reject'), reason]), note]);
  new ResizeObserver(() => { if (note.textContent !== 'answered') seen(); }).observe(text);
  seen();
  return box;
}

// ask shows what is open. A question that is asked once more has another number, and shows why the answer couldn't be used.
function ask(list) {
  const open = new Set(list.map(q => q.number)), idle = desk.contains(document.activeElement) || document.activeElement === document.body;
  for (const [number, box] of asked) if (!open.has(number)) { box.remove(); asked.delete(number); }
  for (const q of list) if (!asked.has(q.number)) { asked.set(q.number, question(q)); desk[q.problem ? 'prepend' : 'append'](asked.get(q.number)); asked.get(q.number).querySelector('pre').dispatchEvent(new Event('scroll')); }
  if (idle && !desk.querySelector(':focus')) (desk.querySelector('h2') || desk).focus();
  document.title = (list.length ? '(' + list.length + ') ' : '') + $('title').textContent;
}

// Drawing is done a few times a second, however many events come.
let due = 0, follow = true, touched = new Set(), reviewed = 0; // when the overview was
function soon() {
  due ||= setTimeout(() => {
    due = 0;
    const p = now.play, all = touched;
    touched = new Set();
    $('slider').max = p.moments.length - 1;
    if (follow) now.moment = p.moments.length - 1;
    const reading = $('panel').matches(':hover, :focus-within') && !p.status;
    if (now.key === '' && !reading && (p.status || Date.now() > reviewed + 1000)) { overviewed = null; reviewed = Date.now(); }
    refresh(now.key === '' ? !overviewed : all.has(now.key) || p.status);
  }, 200);
}

// keep offers the run as a file: the page as it was served, with the events that came.
async function keep(served) {
  const text = await served, at = text.indexOf('application/json">') + 18, end = text.indexOf('</' + 'script>', at), kept = JSON.parse(text.slice(at, end));
  Object.assign(kept, { kind: 'run', scenarios: [{ ...kept.scenarios[0], events: now.play.events }] });
  const page = text.slice(0, at) + JSON.stringify(kept).replaceAll('<', '\\u003c') + text.slice(end);
  $('live').after(el('a', { id: 'keep', href: URL.createObjectURL(new Blob([page], { type: 'text/html' })), download: $('title').textContent.replace(/[^\w.-]+/g, '-') + '-run.html' }, 'Save this run as a page'));
}

function live() {
  $('panel').before(desk);
  $('title').after(el('span', { id: 'live', role: 'status', className: 'working' }));
  $('slider').addEventListener('input', () => { follow = +$('slider').value >= now.play.moments.length - 1; });
  for (const id of ['back', 'failure']) $(id).addEventListener('click', () => { follow = false; });
  const load = () => fetch('').then(r => r.text());
  let drawn = data.drawn, served = load();
  const stream = new EventSource('events');
  stream.onmessage = m => {
    const news = JSON.parse(m.data);
    for (const e of news.events) touched.add(now.play.take(e).key);
    ask(news.questions);
    if (news.drawn !== drawn && !news.over) served = load();
    drawn = news.drawn;
    if (news.drawn !== data.drawn && !document.querySelector('#grown')) {
      $('told').hidden = false;
      fill($('told'), el('span', { id: 'grown' }, 'The model has planned another tick. '), el('button', { onclick: () => location.reload() }, 'Draw it'));
    }
    if (news.over) {
      stream.close();
      $('live').textContent = 'the run has ended';
      keep(served);
    }
    if (news.events.length) soon();
  };
  stream.onerror = () => { $('live').textContent = stream.readyState === 2 || now.play.status ? 'the run has ended, or can’t be reached' : 'the run can’t be reached; trying again'; };
  stream.onopen = () => { $('live').textContent = '● live'; };
}
if (data.kind === 'live') live();
