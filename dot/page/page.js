'use strict';
// The page shows what its block of data says. All text from the plan is put in as text.

const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);

// Characters that act on text instead of standing in it are shown by their numbers.
const clean = text => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
  c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// el makes an element. Properties are set as such, those with a dash as attributes.
function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null) continue;
    if (key.includes('-') || key === 'role' || key === 'for') e.setAttribute(key, value); else e[key] = value;
  }
  add(e, children);
  return e;
}
function add(e, children) {
  for (const c of [children].flat(Infinity)) {
    if (c !== undefined && c !== null && c !== '') e.append(c instanceof Node ? c : clean(c));
  }
}
const fill = (e, ...children) => { e.replaceChildren(); add(e, children); };
const svg = (tag, attributes) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
};
const count = (n, word) => n + ' ' + word + (n === 1 ? '' : 's');
const ends = status => ({ done: 'is done', failed: 'fails', stopped: 'stops' })[status] || 'is ' + status;
const between = (list, mark) => list.flatMap((x, i) => i ? [mark, x] : [x]);
// Lengths of time are spelt as plans spell them.
const plainly = text => text.replace(/([hm])0s$/, '$1').replace(/h0m$/, 'h');
const duration = ms => !ms ? '0s' : ms < 1 ? '<1ms' : ms < 1000 ? Math.round(ms) + 'ms' : ms < 59950 ? (ms / 1000).toFixed(ms < 10000 ? 2 : 1).replace(/\.?0+$/, '') + 's'
  : plainly((s => (s < 3600 ? '' : Math.floor(s / 3600) + 'h') + Math.floor(s % 3600 / 60) + 'm' + s % 60 + 's')(Math.round(ms / 1000)));
const brief = (value, most) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > most ? text.slice(0, most) + '…' : text;
};

data.prefix = (data.parts.filter(p => !p.prefix.includes('/')).pop() || { prefix: '' }).prefix; // of the plan that gives the output
const calls = new Map();   // by key
for (const c of data.calls) {
  calls.set(c.key, c);
  c.prefix = c.key.slice(0, c.key.length - c.call.length);
}
// Each drawing has the calls at its nodes, and its edges by the nodes that they come from. The second has fewer boxes.
for (const d of data.drawings) {
  d.calls = new Map(d.nodes.map(n => [n.id, (n.calls || []).map(key => calls.get(key)).filter(Boolean)]));
  d.edges = d.edges.map(([from, to]) => ({ from: d.nodes[from].id, to: d.nodes[to].id }));
  d.out = new Map(d.nodes.map(n => [n.id, []]));
  for (const e of d.edges) d.out.get(e.from).push(e);
  d.one = id => d.calls.get(id).length === 1 ? d.calls.get(id)[0] : null;
}
const full = data.drawings[0];
let shown = data.drawings.at(-1);
const read = c => [...c.values || [], c.when, c.each && c.each.list].filter(Boolean).flatMap(v => v.sources || []).concat(c.context || []); // what a call reads, and from whom
const keys = { next: new Map(), before: new Map() }; // by key, the keys of calls along the edges
(function follow() {
  for (const key of calls.keys()) keys.before.set(key, []);
  const nodes = new Map(full.nodes.filter(n => full.one(n.id)).map(n => [full.one(n.id), n.id]));
  for (const c of calls.values()) {
    const seen = new Set(), all = [];
    const visit = id => {
      for (const { to } of full.out.get(id)) {
        if (seen.has(to)) continue;
        seen.add(to);
        if (full.one(to)) all.push(full.one(to).key); else visit(to);
      }
    };
    if (nodes.has(c)) visit(nodes.get(c));
    keys.next.set(c.key, all);
    for (const to of all) keys.before.get(to).push(c.key);
  }
  for (const c of calls.values()) { // where the drawing has them together, by what they read
    if (nodes.has(c)) continue;
    const from = new Set([...read(c).flatMap(x => x.calls || []), ...(c.after || []).map(a => a.call)].map(name => c.prefix + name).filter(key => calls.has(key)));
    keys.before.set(c.key, [...from]);
    for (const key of from) keys.next.get(key).push(c.key);
  }
})();

const effects = {
  'destructive': ['destroys', 'danger', '▲'], 'unknown': ['effect unknown: no trusted source declares it', 'caution', '△'],
  'writes': ['writes, destroys nothing', 'caution', '✎'], 'read-only': ['changes nothing', 'fine', ''],
};
const acts = c => !['plan', 'model', 'produced'].includes(c.runs.kind); // by itself
// What can be shown alone, by the key that does it.
const filters = {
  d: ['▲ destroys, or may', c => acts(c) && ['destructive', 'unknown'].includes(c.effect.kind)], l: ['↗ leaves', c => c.leaves], a: ['? asks', c => c.confirm],
};
const effectOf = c => c.runs.kind === 'model' ? ['a model answers', 'model', '✦'] : c.runs.kind === 'plan' ? ['runs another plan', '', ''] : effects[c.effect.kind] || [c.effect.kind, '', ''];

const states = { // in the order of their importance: glyph, word
  failed: ['✗', 'failed'], asked: ['?', 'a person is asked'], running: ['●', 'running'], rejected: ['⊘', 'rejected'], handled: ['!', 'failed, and handled'],
  cancelled: ['■', 'cancelled'], done: ['✓', 'done'], skipped: ['–', 'skipped'], waiting: ['', 'waiting'],
};
const importance = Object.keys(states);

// keyOf is the call that an event is about: one for an item of a list is about the call.
function keyOf(e) {
  const key = (e.tick ? e.tick + ':' : '') + (e.under ? e.under + '/' : '') + e.call;
  return calls.has(key) ? key : key.replace(/\[\d+\](?=\/|$)/g, '');
}

// A Play is one simulation, or one run: what happened to which call, moment by moment.
class Play {
  constructor(scenario) {
    Object.assign(this, scenario);
    this.records = new Map(); // by key
    this.byName = new Map();
    this.moments = [];
    this.instances = new Set();
    this.length = 0;
    const events = this.events || [];
    this.events = [];
    for (const e of events) this.take(e);
  }
  record(e) {
    const key = keyOf(e), name = [e.instance || '', e.under || '', e.call, e.tries || '', e.tick || ''].join('\n');
    let r = this.byName.get(name);
    if (!r) {
      r = { key, name: (e.under ? e.under + '/' : '') + e.call, label: [e.instance, e.instance || e.under || e.call !== (calls.get(key) || {}).call ? (e.under ? e.under + '/' : '') + e.call : ''].filter(Boolean).join(': '), instance: e.instance || '' };
      this.byName.set(name, r);
      r.item = key !== (e.tick ? e.tick + ':' : '') + r.name; // it is about an item of the call's list
      if (this.records.has(key)) this.records.get(key).push(r); else this.records.set(key, [r]);
      if (e.instance) this.instances.add(e.instance);
    }
    return r;
  }
  // take adds an event. What a call had come to counts no more when it starts again.
  take(e) {
    const i = this.events.push(e) - 1, m = { at: e.at ?? this.length, words: '', key: '' };
    this.length = Math.max(this.length, m.at);
    if (e.event === 'call' || e.event === 'ask') {
      const r = this.record(e);
      m.key = r.key;
      const name = r.label || e.call;
      if (e.event === 'ask') {
        r.asked = i; r.askedAt = m.at; r.question = e.question;
        m.words = name + ': a person is asked';
      } else if (e.status === 'started') {
        r.begun ??= i; r.from ??= m.at; r.tries = e.attempt; r.last = i; (r.starts ||= []).push(m.at);
        delete r.ended;
        m.words = name + (e.attempt > 1 ? ' is tried again (' + e.attempt + ')' : ' starts') + (e.doubt ? ': ' + e.doubt : '');
      } else {
        const state = e.status === 'failed' && e.routed ? 'handled' : e.status;
        Object.assign(r, { ended: i, to: m.at, state, reason: e.reason, error: e.error, output: e.output, decision: e.decision, tries: e.attempt || r.tries });
        m.failed = state === 'failed' || state === 'handled' || state === 'rejected';
        m.words = name + ' ' + (states[state] || ['', state])[1] + (e.error ? ': ' + e.error.message : e.reason ? ': ' + e.reason : '') + (e.decision ? ', decided by ' + (e.decision.by || 'a person') : '');
      }
    } else if (e.event === 'tick') {
      m.words = e.status === 'started' ? (e.tick > 1 ? 'tick ' + e.tick + ': the model is asked again' : 'tick 1: the model is asked for a plan')
        : 'tick ' + e.tick + ' has ended' + (e.errors.length ? ': ' + e.errors.map(x => x.message).join('; ') : '') + (e.dropped ? '; left out now: ' + e.dropped.join(', ') : '');
      m.failed = e.errors.length > 0;
    } else if (e.event === 'end') {
      this.status = e.status; this.reason = e.reason; this.output = e.output;
      m.words = (data.kind === 'simulation' ? 'the plan ' : 'the run ') + ends(e.status) + (e.reason ? ': ' + e.reason : '');
    } else if (e.event === 'instance') {
      m.words = e.instance + ' is ' + e.status;
    } else {
      m.words = e.event + (e.reason ? ': ' + e.reason : '') + (e.ranking ? ': ' + e.ranking.map(x => x.tool || x).join(', ') : '');
    }
    this.moments.push(m);
    return m;
  }
  // state is that of one record after event i.
  state(r, i) {
    if (r.ended !== undefined && i >= r.ended) return r.state;
    const asks = r.asked !== undefined && i >= r.asked;
    if (r.begun !== undefined && i >= r.begun && !(asks && r.asked > r.last)) return 'running';
    return asks ? 'asked' : 'waiting';
  }
  // of are the records of a call that are shown.
  of(key) {
    const all = this.records.get(key) || [];
    return now.instance ? all.filter(r => r.instance === now.instance || !r.instance) : all;
  }
  // at is how a call stands after event i: the most important state, in signs and in words.
  at(key, i) {
    let all = this.of(key);
    const own = all.filter(r => r.item); // the call itself is none of its items
    const grave = r => ['failed', 'handled', 'rejected', 'cancelled'].includes(this.state(r, i));
    if (own.length) all = own.some(grave) ? own : own.concat(all.filter(r => !r.item && grave(r)));
    if (!all.length) return { state: 'waiting', sign: '', words: 'waiting' };
    if (own.length && all.every(r => this.state(r, i) === 'skipped') && this.of(key).some(r => !r.item && this.state(r, i) === 'done'))
      return { state: 'done', sign: '✓ ' + own.length + '–', words: 'done, with every item skipped' }; // which is a list of nulls
    if (all.length > 1) {
      const counts = {};
      for (const r of all) { const s = this.state(r, i); counts[s] = (counts[s] || 0) + 1; }
      const there = importance.filter(s => counts[s]);
      return { state: there[0], sign: there.filter(s => s !== 'waiting').map(s => counts[s] + states[s][0]).join(' '), words: there.map(s => counts[s] + ' ' + states[s][1]).join(', ') };
    }
    const r = all[0], state = this.state(r, i), took = r.from !== undefined && r.ended !== undefined && i >= r.ended ? duration(r.to - r.from) : '';
    return { state, sign: (states[state][0] + ' ' + took).trim(), words: states[state][1] + (took ? ' after ' + took : '') };
  }
  // path is the critical path: as the simulation gives it, or who was waited for, from the last back.
  path() {
    if (this.critical) { // what is done for an item is its call's, and a delegate's call stands after the one that runs it
      const path = [], add = key => { if (calls.has(key) && !path.includes(key)) path.push(key); };
      for (const name of this.critical) {
        const key = name.replace(/\[\d+\](?=\/|$)/g, '');
        for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) add(key.slice(0, at));
        add(key);
      }
      return path;
    }
    const last = [...this.byName.values()].filter(r => this.over(r)).reduce((a, b) => a && a.to >= b.to ? a : b, null);
    this.criticalInstance = last ? last.instance : '';
    const latest = list => list.reduce((best, k) => this.end(k) >= 0 && (best === undefined || this.end(k) > this.end(best)) ? k : best, undefined);
    const path = [];
    for (let k = latest([...this.records.keys()].filter(k => calls.has(k))); k !== undefined && !path.includes(k); k = latest(keys.before.get(k) || [])) path.unshift(k);
    return path;
  }
  over(r) { return r.from !== undefined && r.to !== undefined && calls.has(r.key); }
  // end is when a call has ended, in the instance whose path is the critical one; -1 where it hasn't run.
  end(key) { return Math.max(-1, ...(this.records.get(key) || []).filter(r => this.over(r) && r.instance === this.criticalInstance).map(r => r.to)); }
  // decides reports whether a record is on the critical path, which is given.
  decides(r, path) {
    return r.instance === (this.criticalInstance || '') && (this.critical ? this.critical.includes(r.name) : path.has(r.key) && r.to === this.end(r.key));
  }
  // along are the edges of the critical path, also where they lead through frames.
  along() {
    const path = this.path(), all = new Set(), node = key => calls.get(key).place && calls.get(key).place.id;
    path.slice(1).forEach((key, i) => {
      const from = path[i], by = new Map(), queue = [node(from)], goal = node(key);
      for (let at = 0; at < queue.length && !by.has(goal); at++) {
        for (const e of shown.out.get(queue[at]) || []) {
          const c = shown.one(e.to);
          if (by.has(e.to) || c && c.key !== key && !from.startsWith(c.key + '/') && !key.startsWith(c.key + '/')) continue;
          by.set(e.to, e);
          queue.push(e.to);
        }
      }
      for (let e = by.get(goal); e && !all.has(e); e = e.from === queue[0] ? null : by.get(e.from)) all.add(e);
    });
    return all;
  }
  // left are the items of lists that are skipped in the end.
  left() { return [...this.byName.values()].filter(r => r.item && this.state(r, this.events.length - 1) === 'skipped'); }
  ran(key) { return (this.records.get(key) || []).some(r => r.begun !== undefined); }
  final(key) { return this.at(key, this.events.length - 1).state; }
  why(key) { const r = (this.records.get(key) || [])[0] || {}; return r.error ? r.error.message : r.reason || ''; }
}

const now = { play: null, scenario: 0, set: new Map(), moment: -1, key: '', group: null, only: '', view: 'drawing', critical: false, instance: '' };
const plays = [];
function playOf(n) { return plays[n] ||= data.scenarios && data.scenarios[n] ? new Play(data.scenarios[n]) : null; }

const drawing = $('drawing');
let canvas, whole, box, roving; // roving is the box that Tab leads to
[$('drawing'), $('folded').content].slice(0, data.drawings.length).forEach((from, i) => { data.drawings[i].canvas = from.querySelector('svg'); });

// draw shows a drawing.
function draw(d) {
  shown = d;
  canvas = d.canvas;
  drawing.replaceChildren(canvas);
  if (!d.boxes) prepare(d);
  for (const c of calls.values()) c.place = null;
  for (const b of d.boxes) for (const c of b.calls) c.place = b;
  whole = d.whole;
  roving = d.boxes[0];
  if (roving) roving.g.setAttribute('tabindex', '0');
  $('fold').textContent = d === full ? 'Fewer boxes' : 'All ' + count(calls.size, 'call');
  theme(document.documentElement.dataset.theme || '');
  fit();
}
function prepare(d) {
  const given = canvas.viewBox.baseVal, groups = new Map([...canvas.querySelectorAll('[data-node]')].map(g => [g.dataset.node, g]));
  canvas.setAttribute('role', 'group');
  canvas.setAttribute('aria-label', 'drawing of the plan; arrow keys go along the edges, and the table has the same calls');
  canvas.removeAttribute('width');
  canvas.removeAttribute('height');
  canvas.setAttribute('viewBox', [0, 0, given.width, given.height].join(' '));
  const on = canvas.querySelector('.plan'), m = canvas.getScreenCTM().inverse().multiply(on.getScreenCTM()); // coordinates of the plan in the drawing
  const at = b => ({ x: b.x * m.a + m.e, y: b.y * m.d + m.f, w: b.width * m.a, h: b.height * m.d });
  const all = at(on.getBBox()), pad = 16;
  d.page = { x: 0, y: 0, w: given.width, h: given.height };
  d.whole = all.w ? { x: all.x - pad, y: all.y - pad, w: all.w + 2 * pad, h: all.h + 2 * pad } : d.page;
  d.boxes = d.nodes.map(n => ({ id: n.id, calls: d.calls.get(n.id), g: groups.get(n.id) })).filter(b => b.g && b.calls.length);
  d.at = new Map(d.boxes.map(b => [b.id, b]));
  for (const b of d.boxes) b.box = b.g.getBBox();
  for (const b of d.boxes) {
    b.stands = at(b.box);
    for (const line of b.g.querySelectorAll('text')) line.after(' ');
    b.text = [...b.g.querySelectorAll('text')].map(t => t.textContent).join(' ');
    b.g.classList.add('place');
    b.g.setAttribute('role', 'button');
    b.g.setAttribute('tabindex', '-1');
    b.g.append(svg('rect', { class: 'halo', x: b.box.x - 3, y: b.box.y - 3, width: b.box.width + 6, height: b.box.height + 6, rx: 8 }));
    b.g.addEventListener('focus', () => chooseBox(b));
  }
  d.edges.forEach((e, i) => { e.g = canvas.getElementById('e' + i); });
}

function look(b) { box = b; canvas.setAttribute('viewBox', [b.x, b.y, b.w, b.h].map(n => n.toFixed(2)).join(' ')); }
// size is that of the place for the drawing, kept since to ask for it lays the page out.
let size = { w: 1, h: 1 };
function measure() { size = { w: drawing.clientWidth || size.w, h: drawing.clientHeight || size.h }; }
function ratio() { return size.h / size.w; }

// fit shows all of the drawing, or its beginning where all would be too small to read.
function fit(all) {
  const r = ratio(), wide = size.w;
  let w = Math.max(whole.w, whole.h / r, wide / 1.4);
  if (!all && w > wide / .4) w = wide / .8;
  const h = w * r, top = shown.boxes.map(b => b.stands).reduce((a, b) => a && a.y <= b.y ? a : b, null);
  look({ x: w < whole.w ? Math.max(whole.x, Math.min(whole.x + whole.w, top ? top.x + top.w + 20 : 0) - w) : whole.x + (whole.w - w) / 2, y: h > whole.h ? whole.y + (whole.h - h) / 2 : whole.y, w, h });
}
function zoom(by, x, y) {
  const w = Math.min(whole.w * 8 + 2000, Math.max(60, box.w * by)), k = w / box.w;
  x ??= box.x + box.w / 2; y ??= box.y + box.h / 2;
  look({ x: x - (x - box.x) * k, y: y - (y - box.y) * k, w, h: box.h * k });
}
function reveal(place) {
  if (!place) return;
  const b = place.stands, pad = 20;
  if (b.x - pad < box.x || b.y - pad < box.y || b.x + b.w + pad > box.x + box.w || b.y + b.h + pad > box.y + box.h) {
    if (box.w > size.w / .4) { const w = size.w / .8; box = { ...box, w, h: w * ratio() }; }
    look({ ...box, x: b.x + b.w / 2 - box.w / 2, y: b.y + b.h / 2 - box.h / 2 });
  }
}
function pointAt(event) { return new DOMPoint(event.clientX, event.clientY).matrixTransform(canvas.getScreenCTM().inverse()); }

drawing.addEventListener('wheel', e => {
  e.preventDefault();
  const p = pointAt(e);
  zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 250), p.x, p.y);
}, { passive: false });
const pointers = new Map();
let moved = 0;
drawing.addEventListener('pointerdown', e => { pointers.set(e.pointerId, e); moved = 0; });
drawing.addEventListener('pointermove', e => {
  const last = pointers.get(e.pointerId);
  if (!last || !(e.buttons & 1)) { pointers.delete(e.pointerId); return; }
  const dx = e.clientX - last.clientX, dy = e.clientY - last.clientY, k = box.w / size.w;
  if ((moved += Math.abs(dx) + Math.abs(dy)) > 4) { drawing.setPointerCapture(e.pointerId); drawing.classList.add('moving'); }
  if (pointers.size === 2) {
    const other = [...pointers.values()].find(p => p.pointerId !== e.pointerId);
    const was = Math.hypot(last.clientX - other.clientX, last.clientY - other.clientY), is = Math.hypot(e.clientX - other.clientX, e.clientY - other.clientY);
    if (is > 0) zoom(was / is);
  } else look({ ...box, x: box.x - dx * k, y: box.y - dy * k });
  pointers.set(e.pointerId, e);
});
for (const end of ['pointerup', 'pointercancel']) drawing.addEventListener(end, e => { pointers.delete(e.pointerId); drawing.classList.remove('moving'); });
drawing.addEventListener('click', e => {
  const g = e.target.closest('.place'), b = g && shown.at.get(g.dataset.node);
  if (b && moved <= 4) { chooseBox(b); g.focus({ preventScroll: true }); }
});

// Keys in the drawing: up and down along the edges, left and right beside.
drawing.addEventListener('keydown', e => {
  const c = calls.get(now.key);
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Enter' || e.key === ' ') { $('panel').focus(); e.preventDefault(); return; }
  const here = c ? c.place : now.group, along = list => (list || []).map(key => calls.get(key).place);
  const others = e.key === 'ArrowDown' ? here && here.calls.length > 1 ? folded(here, 'from', 'to') : along(keys.next.get(now.key))
    : e.key === 'ArrowUp' ? here && here.calls.length > 1 ? folded(here, 'to', 'from') : along(keys.before.get(now.key))
    : e.key === 'Home' ? shown.boxes : e.key === 'ArrowLeft' || e.key === 'ArrowRight' ? beside(here, e.key === 'ArrowRight' ? 1 : -1) : null;
  if (!others) return;
  e.preventDefault();
  const next = others.find(b => b && b !== here);
  if (next) next.g.focus({ preventScroll: true });
});
const folded = (b, at, other) => shown.edges.filter(e => e[at] === b.id).map(e => shown.at.get(e[other])); // boxes along the edges of one
function beside(b, step) {
  if (!b) return [];
  const middle = o => o.stands.y + o.stands.h / 2;
  const row = shown.boxes.filter(o => Math.abs(middle(o) - middle(b)) < Math.max(b.stands.h, o.stands.h) / 2).sort((a, b) => a.stands.x - b.stands.x);
  return [row[row.indexOf(b) + step]];
}

// looks gives an element the classes that it is to have now, besides its own, where they have changed.
function looks(of, words) {
  of.own ??= of.g.getAttribute('class');
  const next = words.filter(Boolean).join(' '), changed = of.looks !== next;
  if (changed) of.g.setAttribute('class', of.own + ' ' + next);
  of.looks = next;
  return changed;
}

// stateOf is how the calls of a box stand: the most important state, in signs and in words.
function stateOf(b) {
  const all = now.play && now.moment >= 0 ? b.calls.map(c => now.play.at(c.key, now.moment)) : [];
  if (all.length < 2) return all[0] || { state: '', sign: '', words: '' };
  const there = importance.filter(s => all.some(x => x.state === s)), n = s => all.filter(x => x.state === s).length;
  return { state: there[0], sign: there.filter(s => states[s][0]).map(s => n(s) + states[s][0]).join(' '), words: there.map(s => n(s) + ' ' + states[s][1]).join(', ') };
}

// paint brings the drawing to the moment.
function paint() {
  const path = new Map((now.critical && now.play ? now.play.path() : []).map((key, i) => [key, i + 1]));
  const along = path.size ? now.play.along() : new Set(), only = now.only && filters[now.only][1];
  for (const b of shown.boxes) {
    const s = stateOf(b), first = b.calls.find(c => path.has(c.key)), several = b.calls.length > 1;
    const mark = first ? '★' + path.get(first.key) : '', sign = (mark + ' ' + s.sign).trim();
    const chosen = b === now.group || b.calls.some(c => c.key === now.key);
    const changed = looks(b, [s.state && 's-' + s.state, mark && 'critical', chosen && 'chosen', only && !b.calls.some(only) && 'dim']);
    if (!changed && b.sign === sign) continue;
    if (b.sign !== sign) badge(b, sign);
    b.sign = sign;
    b.g.setAttribute('aria-label', [b.text + (sign ? ' ' + sign : ''), ...b.calls.slice(0, 3).map(c => c.key), several ? doings(b.calls) : effectOf(b.calls[0])[0], s.words, mark && 'on the critical path'].filter(Boolean).map(clean).join(', '));
    b.g.setAttribute('aria-current', chosen);
  }
  for (const e of shown.edges) {
    if (!e.g) continue;
    const ends = [shown.at.get(e.from), shown.at.get(e.to)].filter(Boolean), own = ends.some(b => b === now.group || now.key && b.calls.some(c => c.key === now.key));
    const off = ends.some(b => b.looks && /s-(skipped|cancelled)|dim/.test(b.looks));
    looks(e, [along.has(e) && 'critical', own && 'lit', off && 'off']);
  }
}
// doings counts what calls do, by the filters.
const doings = list => Object.values(filters).map(([words, test]) => [words.slice(2), list.filter(test).length]).filter(([, n]) => n).map(([words, n]) => n + ' ' + words).join(', ');
function badge(b, sign) {
  if (b.badge) b.badge.remove();
  b.badge = null;
  if (!sign) return;
  const w = 7.4 * [...sign].length + 12, x = b.box.x + b.box.width - w / 2 - 4, y = b.box.y - 6;
  b.badge = svg('g', { class: 'badge' });
  b.badge.append(svg('rect', { x: x - w / 2, y: y - 9, width: w, height: 18, rx: 9 }), svg('text', { x, y }));
  b.badge.lastChild.textContent = sign;
  b.g.append(b.badge);
}

// choose shows a call, among all calls where the drawing has it in one box with others; go moves the focus to it besides.
function choose(key) {
  if (!calls.has(key) || key === now.key) return;
  Object.assign(now, { key, group: null });
  if (shown !== full && !(calls.get(key).place && calls.get(key).place.calls.length === 1)) draw(full);
  rove(calls.get(key).place);
  history.replaceState(null, '', '#call=' + encodeURIComponent(key));
  renew();
}
// chooseBox shows the calls of a box.
function chooseBox(b) {
  if (b.calls.length === 1) { choose(b.calls[0].key); return; }
  if (now.group === b) return;
  Object.assign(now, { key: '', group: b });
  rove(b);
  renew();
}
function rove(b) {
  if (!b) return;
  if (roving) roving.g.setAttribute('tabindex', '-1');
  roving = b;
  b.g.setAttribute('tabindex', '0');
  reveal(b);
}
function go(key) {
  choose(key);
  const c = calls.get(key);
  if (now.view === 'drawing' && c && c.place) c.place.g.focus({ preventScroll: true });
}
// alone shows what passes a filter, or everything.
function alone(filter) {
  now.only = now.only === filter ? '' : filter;
  for (const b of $('only').children) b.setAttribute('aria-pressed', b.dataset.key === now.only);
  refresh(false);
}
function overview() {
  Object.assign(now, { key: '', group: null });
  history.replaceState(null, '', location.pathname + location.search);
  renew();
}
function renew() { refresh(); $('panel').parentNode.scrollTop = 0; }
function fromAddress() {
  const key = new URLSearchParams(location.hash.slice(1)).get('call');
  if (key && calls.has(key)) choose(key);
}

// refresh shows what has changed; what stands beside the drawing is written anew only where it has.
function refresh(beside = true) {
  paint();
  if (beside) panel();
  if (now.view === 'table') table();
  if (now.view === 'time') timeline();
  const m = now.play && now.play.moments[now.moment];
  $('moment').textContent = clean(m ? duration(m.at) + ' · ' + m.words : now.play ? 'before it begins' : 'not simulated');
  $('slider').value = now.moment;
  $('slider').setAttribute('aria-valuetext', $('moment').textContent);
}

function setMoment(i) {
  if (!now.play) return;
  now.moment = Math.max(-1, Math.min(now.play.moments.length - 1, i));
  refresh(now.key !== ''); // what is told of the whole is the same at every moment
}
// jump goes to the next moment, or the one before, that is something special.
function jump(step, special) {
  const all = now.play ? now.play.moments : [];
  for (let n = 1; n <= all.length; n++) { // and from the other end on: what a simulation was chosen for may lie behind its end
    const i = (Math.max(now.moment, step > 0 ? -1 : 0) + step * n + 2 * all.length) % all.length;
    if (special(all[i])) { setMoment(i); if (all[i].key && calls.has(all[i].key)) choose(all[i].key); return; }
  }
  $('moment').textContent = 'there is no failure';
}

function setScenario(n) {
  now.scenario = n;
  now.set = new Map((data.scenarios[n].picks || []).filter(([, option]) => option));
  show();
}
// What may go otherwise is set together: choices, and the option of each. What comes of it is
// the one simulation in which all that it came by is as set, or else as usual.
function setSwitch(choice, option) {
  const set = new Map(now.set);
  if (option) set.set(choice, option); else set.delete(choice);
  const n = data.scenarios.findIndex(s => (s.picks || []).every(([c, o]) => (set.get(c) || 0) === o));
  if (n >= 0) Object.assign(now, { scenario: n, set });
  show(n >= 0 ? '' : 'Together with ' + data.choices[choice][option] + ' this wasn’t simulated: there was no room for it here, or no values allow it. obelus simulate PLAN --branches simulates more.');
}
function show(but) {
  const n = now.scenario;
  now.play = playOf(n);
  now.moment = n > 0 || data.kind !== 'simulation' ? now.play.moments.length - 1 : -1;
  const seen = [...now.play.instances];
  $('instance').hidden = seen.length < 2;
  if (seen.length > 1) fill($('instance'), el('option', { value: '' }, 'all ' + seen.length + ' instances'), ...seen.map(id => el('option', { value: id }, id)));
  $('slider').max = now.play.moments.length - 1;
  $('failure').hidden = data.kind !== 'live' && !now.play.moments.some(m => m.failed);
  told(but);
  switched();
  refresh();
  const fails = calls.get(now.play.fails);
  if (n > 0 && fails) reveal(fails.place);
}

function view(name) {
  now.view = name;
  for (const v of ['drawing', 'time', 'table']) { $(v).hidden = v !== name; $('show-' + v).setAttribute('aria-pressed', v === name); }
  refresh();
}

for (const c of calls.values()) c.text = [c.key, c.tool, c.to, effectOf(c)[0], doings([c]), (tool(c) || {}).description, ...(c.writes || []).flat(), ...read(c).map(s => s.path)].filter(Boolean).join('\n').toLowerCase();
function tool(c) { return data.parts[c.part].tools[c.tool]; }
function search() {
  const words = $('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? data.calls.filter(c => words.every(w => c.text.includes(w))) : [];
  const first = c => !c.key.toLowerCase().includes(words[0]);
  hits.sort((a, b) => first(a) - first(b));
  $('found').hidden = !words.length;
  fill($('found'), ...hits.slice(0, 50).map(c => el('li', {}, el('button', { onclick: () => found(c.key) }, c.key, c.tool !== c.call ? el('span', { className: 'muted' }, '  ' + c.tool) : ''))),
    ...words.length && !hits.length ? [el('li', { className: 'muted' }, 'no call has that')] : [], ...hits.length > 50 ? [el('li', { className: 'muted' }, hits.length - 50 + ' more')] : []);
  $('said').textContent = words.length ? count(hits.length, 'call') + ' found' : '';
  return hits;
}
function found(key) {
  $('search').value = '';
  search();
  if (now.view !== 'drawing') view('drawing');
  go(key);
}
$('search').addEventListener('input', search);
document.querySelector('.finder').addEventListener('keydown', e => {
  if (e.key === 'Enter' && document.activeElement === $('search')) { const hit = search()[0]; if (hit) found(hit.key); e.preventDefault(); }
  if (e.key === 'Escape') { $('search').value = ''; search(); $('search').focus(); e.stopPropagation(); }
});
