'use strict';
// A run that goes on: its events come as they happen, and what it asks is answered here.

const asked = new Map(); // open questions by id: their elements
const desk = el('div', { id: 'questions', role: 'region', 'aria-label': 'questions of the run', 'aria-live': 'polite' });
$('panel').before(desk);
$('title').after(el('span', { id: 'live', role: 'status', className: 'working' }));

// question shows what would run in full, and takes one answer. What isn't shown whole is
// let run by nobody: once the text has been scrolled to its end, or all of it opened.
function question(q) {
  const box = el('section', { className: 'question' }), note = el('p', { role: 'status', className: 'danger' });
  const text = el('pre', { tabIndex: 0, 'aria-label': 'what would run' }, q.text.replace(/[ \n]+$/, ''));
  let whole = false;
  const lets = []; // the buttons that let it run
  const seen = () => {
    whole ||= text.clientHeight > 0 && text.scrollTop + text.clientHeight >= text.scrollHeight - 2;
    for (const b of lets) b.disabled = !whole;
    rest.hidden = whole;
  };
  const rest = el('p', { className: 'caution' }, 'There is more of it: scroll to its end, or ', el('button', { onclick: () => { text.classList.add('whole'); whole = true; seen(); } }, 'show all of it'), ', to let it run.');
  const run = (words, what) => { lets.push(el('button', { onclick: what }, words)); return lets.at(-1); };
  const answer = async decision => {
    for (const b of box.querySelectorAll('button')) b.disabled = true;
    let failed = '';
    try {
      const r = await fetch('answer', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ id: q.id, ...decision }) });
      failed = await r.text();
    } catch (e) { failed = 'the run can’t be reached any more'; }
    note.textContent = failed ? clean(failed) : 'answered';
    if (failed) { for (const b of box.querySelectorAll('button')) b.disabled = false; seen(); }
  };
  const reason = el('input', { placeholder: 'why, in words', 'aria-label': 'reason', size: 24 });
  const changed = el('textarea', { value: JSON.stringify(q.params, null, 2), 'aria-label': 'changed parameters, as JSON', spellcheck: false });
  add(box, [el('h3', {}, 'The run asks about ' + q.key), text, rest,
    el('div', { className: 'group' }, q.again
      ? [run('Run it again', () => answer({ verdict: 'retry' })), el('button', { onclick: () => answer({ verdict: 'fail' }) }, 'Count it as failed')]
      : [run('✓ Approve', () => answer({ verdict: 'approve' })), el('button', { onclick: () => answer({ verdict: 'reject', reason: reason.value || undefined }) }, '✗ Reject'), reason]),
    q.params ? el('details', {}, el('summary', {}, 'change its parameters'), changed, run('Run it with these', () => {
      let params;
      try { params = JSON.parse(changed.value); } catch (e) { note.textContent = 'that is no JSON: ' + clean(e.message); return; }
      answer({ verdict: 'change', params });
    })) : '', note]);
  text.addEventListener('scroll', seen);
  new ResizeObserver(() => { if (note.textContent !== 'answered') seen(); }).observe(text);
  seen();
  return box;
}

function ask(list) {
  const ids = new Set(list.map(q => q.id));
  for (const [id, box] of asked) if (!ids.has(id)) { box.remove(); asked.delete(id); }
  for (const q of list) if (!asked.has(q.id)) { asked.set(q.id, question(q)); desk.append(asked.get(q.id)); asked.get(q.id).querySelector('pre').dispatchEvent(new Event('scroll')); }
  document.title = (list.length ? '(' + list.length + ') ' : '') + $('title').textContent;
}

// Drawing is done a few times a second, however many events come.
let reviewed = 0; // when the overview was
let due = 0, follow = true, touched = new Set();
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
$('slider').addEventListener('input', () => { follow = +$('slider').value >= now.play.moments.length - 1; });
for (const id of ['back', 'failure', 'play']) $(id).addEventListener('click', () => { follow = false; });

const stream = new EventSource('events');
stream.onmessage = m => {
  const news = JSON.parse(m.data);
  for (const e of news.events) touched.add(now.play.take(e).key);
  ask(news.questions);
  if (news.drawn !== data.drawn && !document.querySelector('#grown')) {
    $('told').hidden = false;
    fill($('told'), el('span', { id: 'grown' }, 'The model has planned another step. '), el('button', { onclick: () => location.reload() }, 'Draw it'));
  }
  if (news.over) {
    stream.close();
    ask([]);
    $('live').textContent = 'the run has ended';
  }
  if (news.events.length) soon();
};
stream.onerror = () => { $('live').textContent = stream.readyState === 2 || now.play.status ? 'the run has ended, or can’t be reached' : 'the run can’t be reached; trying again'; };
stream.onopen = () => { $('live').textContent = '● live'; };
