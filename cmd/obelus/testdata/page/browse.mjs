// Does in a real browser what people do with a page, by mouse and by keys, and says what
// they saw: a job a line in, an answer a line out.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import fs from 'node:fs';

const { chromium } = await import(pathToFileURL(path.resolve(process.argv[2], 'node_modules/playwright-core/index.mjs')));
const browser = await chromium.launch({
  executablePath: process.argv[3], timeout: 120000,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

async function open(job) {
  const context = await browser.newContext({ viewport: { width: job.width || 1440, height: job.width ? 844 : 900 }, colorScheme: job.scheme || 'light' });
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  const said = [], requests = [];
  page.on('console', m => said.push(m.type() + ': ' + m.text()));
  page.on('pageerror', e => said.push('error: ' + e.message));
  page.on('dialog', d => { said.push('dialog: ' + d.message()); d.dismiss(); });
  page.on('request', r => { if (!r.url().startsWith(job.url || 'file:')) requests.push(r.url()); });
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI)));
  const began = Date.now();
  await page.goto(job.url || pathToFileURL(job.file).href);
  await page.waitForFunction(() => document.querySelectorAll('#panel section').length > 0);
  return { context, page, said, requests, loaded: Date.now() - began };
}

const text = (page, selector) => page.locator(selector).allTextContents();
const heading = page => page.locator('#panel h2').textContent();

// Each task by mouse, and by keys alone. What they give is what was seen.
const tasks = {
  find: {
    mouse: async (page, job) => { await page.click('#search'); await page.fill('#search', job.find); await page.click('#found button >> nth=0'); return heading(page); },
    keys: async (page, job) => { await page.keyboard.press('/'); await page.keyboard.type(job.find); await page.keyboard.press('Enter'); return heading(page); },
  },
  source: { // of the second parameter
    mouse: async page => { const name = await page.locator('#panel dl dd').nth(1).locator('button').first().textContent(); await page.locator('#panel dl dd').nth(1).locator('button').first().click(); return [name, await heading(page)]; },
    keys: async page => {
      await page.keyboard.press('Enter');
      const name = await page.locator('#panel dl dd').nth(1).locator('button').first().textContent();
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate(() => document.activeElement === document.querySelectorAll('#panel dl dd')[1].querySelector('button'))) break;
      }
      await page.keyboard.press('Enter');
      return [name, await heading(page)];
    },
  },
  edges: { // from a call back along one, and beside
    keys: async (page, job) => {
      await page.keyboard.press('/');
      await page.keyboard.type(job.find);
      await page.keyboard.press('Enter');
      await page.keyboard.press('ArrowUp');
      const before = await heading(page);
      await page.keyboard.press('ArrowDown');
      return [before, await page.evaluate(() => keys.next.get(decodeURIComponent(location.hash.slice(6))) !== undefined && document.activeElement.getAttribute('aria-current'))];
    },
  },
  link: {
    mouse: async (page, job) => { await page.evaluate(call => { location.hash = '#call=' + call; }, job.fails); await page.waitForFunction(call => document.querySelector('#panel h2').textContent === call, job.fails); return heading(page); },
  },
  branch: { // what is skipped where a call fails
    mouse: async (page, job) => {
      await page.click('#what-if');
      await page.getByLabel('"' + job.fails + '" fails', { exact: true }).check();
      await page.click('#what-if');
      return text(page, '#skipped li');
    },
    keys: async (page, job) => {
      await page.focus('#drawing .place');
      await page.keyboard.press('w');
      await page.keyboard.type('"' + job.fails + '" fails');
      for (let i = 0; i < 9 && !await page.evaluate(() => document.activeElement.type === 'checkbox'); i++) await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      await page.keyboard.press('Escape');
      return text(page, '#skipped li');
    },
  },
  failure: { // the moment of it
    mouse: async page => { await page.locator('#slider').fill('-1'); await page.click('#failure'); return page.locator('#moment').textContent(); },
    keys: async page => { await page.focus('#slider'); await page.keyboard.press('Home'); await page.keyboard.press('f'); return page.locator('#moment').textContent(); },
  },
  critical: {
    mouse: async page => { await page.click('#clear'); await page.click('#critical'); return page.evaluate(stars); },
    keys: async page => { await page.focus('#drawing .place'); await page.keyboard.press('x'); await page.keyboard.press('c'); return page.evaluate(stars); },
  },
};
// Steps are single things that people do, and waiting for what comes of them.
const until = (page, test) => page.evaluate(`(async () => { while (!(${test})) await new Promise(done => setTimeout(done, 20)); })()`);
const step = {
  press: (page, key) => page.keyboard.press(key), type: (page, text) => page.keyboard.type(text), click: (page, selector) => page.click(selector), fill: (page, selector, text) => page.fill(selector, text),
  until, save: async (page, selector, file) => { const [download] = await Promise.all([page.waitForEvent('download'), page.click(selector)]); await download.saveAs(file); },
  shot: (page, file) => page.screenshot({ path: file }),
};
const axe = path.resolve(process.argv[2], 'node_modules/axe-core/axe.min.js');
// violations are what axe finds wrong with a page, by the rule and the elements.
async function violations(page) {
  await page.evaluate(fs.readFileSync(axe, 'utf8'));
  const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`);
  return found.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.target.join(' ')).join(', '));
}
const stars = () => [...document.querySelectorAll('.place.critical')].map(g => [+/★(\d+)/.exec(g.querySelector('.badge').textContent)[1], shown.at.get(g.dataset.node).calls[0].key]).sort((a, b) => a[0] - b[0]).map(x => x[1]);

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line), answer = { seen: {}, ms: {} };
  try {
    for (const by of job.by || []) {
      const { context, page, said, requests, loaded } = await open(job);
      answer.ms.load = loaded;
      for (const [name, task] of Object.entries(tasks)) {
        if (!task[by]) continue;
        const began = Date.now();
        answer.seen[name + ' by ' + by] = await task[by](page, job);
        answer.ms[name + ' by ' + by] = Date.now() - began;
      }
      if (job.shot) await page.screenshot({ path: job.shot + '-' + by + '.png' });
      answer.said = [...answer.said || [], ...said];
      answer.requests = [...answer.requests || [], ...requests];
      await context.close();
    }
    if (job.evaluate) {
      const pages = []; // as many as look at it at once
      for (let i = 0; i < (job.times || 1); i++) pages.push(await open(job));
      if (job.ready) for (const { page } of pages) await until(page, job.ready);
      if (job.axe) answer.axe = await violations(pages[0].page);
      for (const [what, ...args] of job.steps || []) await step[what](pages[0].page, ...args);
      const values = await Promise.all(pages.map(({ page }) => page.evaluate(job.evaluate)));
      answer.value = job.times ? values : values[0];
      for (const { context, said, requests } of pages) {
        answer.said = [...answer.said || [], ...said];
        answer.requests = [...answer.requests || [], ...requests];
        await context.close();
      }
    }
  } catch (e) { answer.error = String(e); }
  console.log(JSON.stringify(answer));
}
await browser.close();
