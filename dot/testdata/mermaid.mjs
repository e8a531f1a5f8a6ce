// Draws Mermaid texts with the real library in a document without a browser.
// The one argument is the folder that has node_modules. Each line of standard
// input is {"name", "text"}; for each there is a line out: {"name", "error"} or
// {"name", "title", "nodes": {id: text}, "html": {id: markup}, "edges": [text], "links": the lines drawn,
// "frames": [text], "tags": every element, "attributes": those that could act}.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(resolve(process.argv[2], 'here.js'));
const { JSDOM } = require('jsdom');
const { window } = new JSDOM('<!DOCTYPE html><body></body>', { pretendToBeVisual: true });
globalThis.window = window;
globalThis.document = window.document;
for (const name of ['Element', 'HTMLElement', 'SVGElement', 'Node', 'DOMParser', 'XMLSerializer', 'getComputedStyle',
  'CSSStyleSheet', 'DocumentFragment', 'NodeFilter', 'HTMLTemplateElement', 'NamedNodeMap', 'Text', 'Comment', 'HTMLFormElement', 'MutationObserver']) {
  if (!(name in globalThis)) globalThis[name] = window[name];
}

// There is no layout engine: text is as wide as its characters, shapes are as
// large as their coordinates say, and groups as large as the largest in them.
function box() {
  let width = 8 * ((this.textContent || '').length + 2), height = 20;
  const numbers = (this.getAttribute('points') ?? this.getAttribute('d') ?? '').match(/-?\d+(\.\d+)?/g)?.map(Number);
  if (numbers?.length > 3) {
    const span = (list) => Math.max(...list) - Math.min(...list);
    width = span(numbers.filter((_, i) => i % 2 === 0));
    height = span(numbers.filter((_, i) => i % 2 === 1));
  } else if (this.tagName === 'rect') {
    width = Number(this.getAttribute('width'));
    height = Number(this.getAttribute('height'));
  } else if (this.tagName === 'g') {
    for (const child of this.children) {
      const inner = box.call(child);
      width = Math.max(width, inner.width);
      height = Math.max(height, inner.height);
    }
  }
  return { x: -width / 2, y: -height / 2, width, height, top: 0, left: 0, right: width, bottom: height };
}
window.SVGElement.prototype.getBBox = box;
window.SVGElement.prototype.getComputedTextLength = function () { return box.call(this).width; };
window.Element.prototype.getBoundingClientRect = box;

const { default: mermaid } = await import(pathToFileURL(require.resolve('mermaid')).href);
mermaid.initialize({ startOnLoad: false, suppressErrorRendering: true });

let count = 0;
async function draw({ name, text }) {
  const { svg, diagramType } = await mermaid.render(`drawing${count++}`, text);
  if (diagramType !== 'flowchart-v2') throw new Error(`drawn as ${diagramType}`);
  const page = new window.DOMParser().parseFromString(svg, 'text/html');
  if (page.querySelector('[aria-roledescription="error"]') || svg.includes('Maximum text size')) throw new Error('drawn as an error');
  const texts = (what) => [...page.querySelectorAll(what)].map((e) => e.textContent);
  const nodes = {}, html = {};
  for (const node of page.querySelectorAll('g.node')) {
    const id = node.id.replace(/^.*?flowchart-(.*)-\d+$/, '$1');
    const label = node.querySelector('.nodeLabel');
    html[id] = label?.innerHTML ?? '';
    for (const br of label?.querySelectorAll('br') ?? []) br.replaceWith('\n');
    nodes[id] = label?.textContent ?? '';
  }
  const edges = [...page.querySelectorAll('g.edgeLabel')].map((e) => {
    for (const br of e.querySelectorAll('br')) br.replaceWith('\n');
    return e.textContent;
  });
  const frames = [...page.querySelectorAll('g.cluster .cluster-label')].map((e) => {
    for (const br of e.querySelectorAll('br')) br.replaceWith('\n');
    return e.textContent;
  });
  const tags = [...new Set([...page.querySelectorAll('svg *')].map((e) => e.tagName.toLowerCase()))].sort();
  const attributes = [...page.querySelectorAll('svg *')].flatMap((e) => e.getAttributeNames()).filter((a) => a.startsWith('on') || a === 'href' || a === 'src');
  return { name, title: page.querySelector('.flowchartTitleText')?.textContent ?? '', nodes, html, edges, links: page.querySelectorAll('path.flowchart-link').length, frames, tags, attributes };
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  let answer;
  try {
    answer = await draw(job);
  } catch (error) {
    answer = { name: job.name, error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
process.exit(0);
