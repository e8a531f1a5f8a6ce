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

// ---- the plan -------------------------------------------------------------

data.prefix = (data.parts.filter(p => !p.prefix.includes('/')).pop() || { prefix: '' }).prefix; // of the plan that gives the output
const calls = new Map();   // by key
const atNode = new Map();  // calls by the id of their node
for (const c of data.calls) {
  calls.set(c.key, c);
  if (c.node) atNode.set(c.node, c);
  c.prefix = c.key.slice(0, c.key.length - c.call.length);
}
const outgoing = new Map(data.nodes.map(n => [n.id, []])); // edges, by the node that they come from
for (const e of data.edges) outgoing.get(e.from).push(e);
const read = c => [...c.values || [], c.when, c.each && c.each.list].filter(Boolean).flatMap(v => v.sources || []).concat(c.context || []); // what a call reads, and from whom
const keys = { next: new Map(), before: new Map() }; // by key, the keys of calls along the edges
(function follow() {
  for (const key of calls.keys()) keys.before.set(key, []);
  const out = new Map(data.nodes.map(n => [n.id, []]));
  for (const e of data.edges) out.get(e.from).push(e.to);
  for (const c of calls.values()) {
    const seen = new Set(), all = [];
    const visit = id => {
      for (const to of out.get(id) || []) {
        if (seen.has(to)) continue;
        seen.add(to);
        if (atNode.has(to)) all.push(atNode.get(to).key); else visit(to);
      }
    };
    if (c.node) visit(c.node);
    keys.next.set(c.key, all);
    for (const to of all) keys.before.get(to).push(c.key);
  }
  for (const c of calls.values()) { // where the drawing has them together, by what they read
    if (c.node) continue;
    const from = new Set([...read(c).flatMap(x => x.calls || []), ...(c.after || []).map(a => a.call)].map(name => c.prefix + name).filter(key => calls.has(key)));
    keys.before.set(c.key, [...from]);
    for (const key of from) keys.next.get(key).push(c.key);
  }
})();

const effects = {
  'destructive': ['destroys', 'danger', '▲'], 'unknown': ['may destroy: nobody says what it does', 'danger', '▲?'],
  'writes': ['writes, destroys nothing', 'caution', '△'], 'read-only': ['changes nothing', 'fine', ''],
};
const effectOf = c => c.runs.kind === 'model' ? ['a model makes it up', 'model', '✦'] : c.runs.kind === 'plan' ? ['runs another plan', '', ''] : effects[c.effect.kind] || [c.effect.kind, '', ''];

// ---- what happened --------------------------------------------------------

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

// A Play is one rehearsal, or one run: what happened to which call, moment by moment.
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
      m.words = e.status === 'started' ? (e.tick > 1 ? 'step ' + e.tick + ': the model is asked again' : 'step 1: the model is asked for a plan')
        : 'step ' + e.tick + ' has ended' + (e.errors.length ? ': ' + e.errors.map(x => x.message).join('; ') : '') + (e.dropped ? '; left out now: ' + e.dropped.join(', ') : '');
      m.failed = e.errors.length > 0;
    } else if (e.event === 'end') {
      this.status = e.status; this.reason = e.reason; this.output = e.output;
      m.words = (data.kind === 'rehearsal' ? 'the plan ' : 'the run ') + ends(e.status) + (e.reason ? ': ' + e.reason : '');
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
  // path is the critical path: as the rehearsal gives it, or who was waited for, from the last back.
  path() {
    if (this.critical) { // what is done for an item is its call's, and a delegate's call stands after the one that runs it
      const path = [], take = key => { if (calls.has(key) && !path.includes(key)) path.push(key); };
      for (const name of this.critical) {
        const key = name.replace(/\[\d+\](?=\/|$)/g, '');
        for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) take(key.slice(0, at));
        take(key);
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
    const path = this.path(), all = new Set();
    path.slice(1).forEach((key, i) => {
      const from = path[i], by = new Map(), queue = [calls.get(from).node], goal = calls.get(key).node;
      for (let at = 0; at < queue.length && !by.has(goal); at++) {
        for (const e of outgoing.get(queue[at]) || []) {
          const c = atNode.get(e.to);
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

const now = { play: null, scenario: 0, set: new Map(), moment: -1, key: '', view: 'drawing', critical: false, instance: '' };
const plays = [];
function playOf(n) { return plays[n] ||= data.scenarios && data.scenarios[n] ? new Play(data.scenarios[n]) : null; }

// ---- the drawing ----------------------------------------------------------

const drawing = $('drawing');
let canvas, whole, box, roving; // roving is the call that Tab leads to

function prepare() {
  canvas = drawing.querySelector('svg');
  canvas.setAttribute('role', 'group');
  canvas.setAttribute('aria-label', 'drawing of the plan; arrow keys go along the edges, and the table has the same calls');
  const given = canvas.viewBox.baseVal;
  whole = given && given.width ? { x: given.x, y: given.y, w: given.width, h: given.height } : { x: 0, y: 0, w: canvas.clientWidth, h: canvas.clientHeight };
  canvas.removeAttribute('width');
  canvas.removeAttribute('height');
  const measured = [], groups = new Map([...canvas.querySelectorAll('[data-node]')].map(g => [g.dataset.node, g]));
  for (const c of calls.values()) {
    const g = groups.get(c.node);
    c.g = g;
    if (g) measured.push([c, g, g.getBBox()]);
  }
  const frames = new Map(); // how coordinates of a group are those of the drawing, by the group
  for (const [c, g, b] of measured) {
    const of = g.parentNode, m = frames.get(of) || canvas.getScreenCTM().inverse().multiply(of.getScreenCTM());
    frames.set(of, m);
    c.box = b;
    c.stands = { x: b.x * m.a + m.e, y: b.y * m.d + m.f, w: b.width * m.a, h: b.height * m.d };
    g.classList.add('place');
    g.setAttribute('role', 'button');
    g.setAttribute('tabindex', '-1');
    g.append(svg('rect', { class: 'halo', x: b.x - 3, y: b.y - 3, width: b.width + 6, height: b.height + 6, rx: 8 }));
    g.addEventListener('focus', () => choose(c.key));
  }
  if (measured.length) roving = measured[0][1];
  if (roving) roving.setAttribute('tabindex', '0');
  data.edges.forEach((e, i) => { e.g = $('e' + i); });
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
  if (!all && w > wide / .5) w = wide / .8;
  const h = w * r, top = [...calls.values()].map(c => c.stands).filter(Boolean).reduce((a, b) => a && a.y <= b.y ? a : b, null);
  look({ x: w < whole.w ? Math.max(whole.x, Math.min(whole.x + whole.w, top ? top.x + top.w + 20 : 0) - w) : whole.x + (whole.w - w) / 2, y: h > whole.h ? whole.y + (whole.h - h) / 2 : whole.y, w, h });
}
function zoom(by, x, y) {
  const w = Math.min(whole.w * 8 + 2000, Math.max(60, box.w * by)), k = w / box.w;
  x ??= box.x + box.w / 2; y ??= box.y + box.h / 2;
  look({ x: x - (x - box.x) * k, y: y - (y - box.y) * k, w, h: box.h * k });
}
function reveal(c) {
  if (!c.box) return;
  const b = c.stands, pad = 20;
  if (b.x - pad < box.x || b.y - pad < box.y || b.x + b.w + pad > box.x + box.w || b.y + b.h + pad > box.y + box.h) {
    if (box.w > size.w / .5) { const w = size.w / .8; box = { ...box, w, h: w * ratio() }; }
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
  const g = e.target.closest('.place'), c = g && atNode.get(g.dataset.node);
  if (c && moved <= 4) go(c.key);
});

// Keys in the drawing: up and down along the edges, left and right beside.
drawing.addEventListener('keydown', e => {
  const c = calls.get(now.key);
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Enter' || e.key === ' ') { $('panel').focus(); e.preventDefault(); return; }
  const others = e.key === 'ArrowDown' ? keys.next.get(now.key) : e.key === 'ArrowUp' ? keys.before.get(now.key)
    : e.key === 'Home' ? data.calls.filter(c => c.g).map(c => c.key) : e.key === 'ArrowLeft' || e.key === 'ArrowRight' ? beside(c, e.key === 'ArrowRight' ? 1 : -1) : null;
  if (!others) return;
  e.preventDefault();
  if (others[0] !== undefined) go(others[0]);
});
function beside(c, step) {
  if (!c || !c.g) return [];
  const middle = o => o.stands.y + o.stands.h / 2;
  const row = data.calls.filter(o => o.g && Math.abs(middle(o) - middle(c)) < Math.max(c.stands.h, o.stands.h) / 2).sort((a, b) => a.stands.x - b.stands.x);
  const next = row[row.indexOf(c) + step];
  return next ? [next.key] : [];
}

// looks gives an element the classes that it is to have now, where they have changed.
function looks(of, g, words) {
  const next = words.filter(Boolean).join(' ');
  if (of.looks === next) return false;
  if (of.looks) g.classList.remove(...of.looks.split(' '));
  if (next) g.classList.add(...next.split(' '));
  of.looks = next;
  return true;
}

// paint brings the drawing to the moment.
function paint() {
  const path = new Map((now.critical && now.play ? now.play.path() : []).map((key, i) => [key, i + 1]));
  const along = path.size ? now.play.along() : new Set();
  for (const c of calls.values()) {
    if (!c.g) continue;
    const s = now.play && now.moment >= 0 ? now.play.at(c.key, now.moment) : { state: '', sign: '', words: '' };
    const mark = path.has(c.key) ? '★' + path.get(c.key) : '', sign = (mark + ' ' + s.sign).trim();
    const changed = looks(c, c.g, [s.state && 's-' + s.state, mark && 'critical', c.key === now.key && 'chosen']);
    if (!changed && c.sign === sign) continue;
    if (c.sign !== sign) badge(c, sign);
    c.sign = sign;
    c.g.setAttribute('aria-label', [c.key, effectOf(c)[0], s.words, mark && 'on the critical path'].filter(Boolean).map(clean).join(', '));
    c.g.setAttribute('aria-current', c.key === now.key);
  }
  for (const e of data.edges) {
    if (!e.g) continue;
    const from = atNode.get(e.from), to = atNode.get(e.to), own = now.key && (from && from.key === now.key || to && to.key === now.key);
    const on = along.has(e);
    const off = [from, to].some(c => c && c.looks && /s-(skipped|cancelled)/.test(c.looks));
    looks(e, e.g, [on && 'critical', own && 'lit', off && 'off']);
  }
}
function badge(c, sign) {
  if (c.badge) c.badge.remove();
  c.badge = null;
  if (!sign) return;
  const w = 7.4 * [...sign].length + 12, x = c.box.x + c.box.width - w / 2 - 4, y = c.box.y - 6;
  c.badge = svg('g', { class: 'badge' });
  c.badge.append(svg('rect', { x: x - w / 2, y: y - 9, width: w, height: 18, rx: 9 }), svg('text', { x, y }));
  c.badge.lastChild.textContent = sign;
  c.g.append(c.badge);
}

// ---- choosing -------------------------------------------------------------

// choose shows a call; go moves the focus to it besides.
function choose(key) {
  if (!calls.has(key) || key === now.key) return;
  now.key = key;
  const c = calls.get(key);
  if (c.g) {
    if (roving) roving.setAttribute('tabindex', '-1');
    roving = c.g;
    roving.setAttribute('tabindex', '0');
    reveal(c);
  }
  history.replaceState(null, '', '#call=' + encodeURIComponent(key));
  refresh();
  $('panel').parentNode.scrollTop = 0;
}
function go(key) {
  choose(key);
  const c = calls.get(key);
  if (now.view === 'drawing' && c && c.g) c.g.focus({ preventScroll: true });
}
function overview() {
  now.key = '';
  history.replaceState(null, '', location.pathname + location.search);
  refresh();
  $('panel').parentNode.scrollTop = 0;
}
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
  $('moment').textContent = clean(m ? duration(m.at) + ' · ' + m.words : now.play ? 'before it begins' : 'not rehearsed');
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
  for (let n = 1; n <= all.length; n++) { // and from the other end on: what a rehearsal was chosen for may lie behind its end
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
// the one rehearsal in which all that it came by is as set, or else as usual.
function setSwitch(choice, option) {
  const set = new Map(now.set);
  if (option) set.set(choice, option); else set.delete(choice);
  const n = data.scenarios.findIndex(s => (s.picks || []).every(([c, o]) => (set.get(c) || 0) === o));
  if (n >= 0) Object.assign(now, { scenario: n, set });
  show(n >= 0 ? '' : 'Together with ' + data.choices[choice][option] + ' this wasn’t rehearsed: there was no room for it here, or no values allow it. obelus simulate --branches goes further.');
}
function show(but) {
  const n = now.scenario;
  now.play = playOf(n);
  now.moment = n > 0 || data.kind !== 'rehearsal' ? now.play.moments.length - 1 : -1;
  const seen = [...now.play.instances];
  $('instance').hidden = seen.length < 2;
  if (seen.length > 1) fill($('instance'), el('option', { value: '' }, 'all ' + seen.length + ' instances'), ...seen.map(id => el('option', { value: id }, id)));
  $('slider').max = now.play.moments.length - 1;
  told(but);
  switched();
  refresh();
  const fails = calls.get(now.play.fails);
  if (n > 0 && fails && fails.box) reveal(fails);
}

function view(name) {
  now.view = name;
  for (const v of ['drawing', 'time', 'table']) { $(v).hidden = v !== name; $('show-' + v).setAttribute('aria-pressed', v === name); }
  refresh();
}

let timer = 0;
function playing(on) {
  clearInterval(timer);
  timer = 0;
  $('play').textContent = on ? '❚❚' : '▶';
  $('play').setAttribute('aria-label', on ? 'pause' : 'play');
  if (!on || !now.play) return;
  if (now.moment >= now.play.moments.length - 1) setMoment(-1);
  timer = setInterval(() => { setMoment(now.moment + 1); if (now.moment >= now.play.moments.length - 1) playing(false); }, Math.max(40, Math.min(700, 20000 / now.play.moments.length)));
}

// ---- search ---------------------------------------------------------------

for (const c of calls.values()) c.text = [c.key, c.tool, c.to, (tool(c) || {}).description, ...(c.writes || []).flat(), ...read(c).map(s => s.path)].filter(Boolean).join('\n').toLowerCase();
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
  const all = [...$('found').querySelectorAll('button')], at = all.indexOf(document.activeElement);
  if (e.key === 'ArrowDown' && all[at + 1]) { all[at + 1].focus(); e.preventDefault(); }
  if (e.key === 'ArrowUp') { (all[at - 1] || $('search')).focus(); e.preventDefault(); }
  if (e.key === 'Enter' && document.activeElement === $('search')) { const hit = search()[0]; if (hit) found(hit.key); e.preventDefault(); }
  if (e.key === 'Escape') { $('search').value = ''; search(); $('search').focus(); e.stopPropagation(); }
});
