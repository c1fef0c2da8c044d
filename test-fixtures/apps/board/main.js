// @ts-check
/// <reference path="sallyport.d.ts" />

/** @param {string} id @returns {any} */
const part = (id) => document.getElementById(id);

const states = {
  queued: '◌ Queued',
  running: '◔ Running',
  done: '✓ Done',
  failed: '✗ Failed',
  cancelled: '⊘ Cancelled',
  skipped: '⤼ Skipped',
  blocked: '⚠ Blocked: needs a permission',
  unknown: '? Unknown',
};

/** @type {ProjectResults[]} */
let projects = [];
/** The output that is shown. @type {{ card: string, port: string } | undefined} */
let shown;
/** Where the focus goes when the output is closed. @type {HTMLElement | undefined} */
let cameFrom;

part('refresh').addEventListener('click', refresh);
part('project').addEventListener('change', draw);
part('close').addEventListener('click', () => {
  close();
  cameFrom?.focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !part('output').hidden) part('close').click();
});
refresh();

async function refresh() {
  say('Reading…');
  try {
    const chosen = part('project').value;
    projects = await sallyport.results.list();
    part('project').replaceChildren(...projects.map(({ project, name }) => new Option(name, project)));
    if (projects.some(({ project }) => project === chosen)) part('project').value = chosen;
    part('project').hidden = projects.length < 2;
    draw();
    say('');
  } catch (error) {
    failed(error);
  }
}

function draw() {
  close();
  const project = projects.find((each) => each.project === part('project').value) ?? projects[0];
  part('none').hidden = Boolean(project?.run);
  part('cards').hidden = !project?.run;
  part('run').textContent = project ? runSentence(project) : '';
  part('cards').replaceChildren(...(project?.run ? project.cards.map((card) => cardItem(project, card)) : []));
}

/** @param {ProjectResults} project */
function runSentence({ name, run, cards }) {
  if (!run) return name;
  const done = cards.filter(({ state }) => state === 'done').length;
  return `${name} · ${done} of ${cards.length} cards done · ${new Date(run.startedAt).toLocaleString()}`;
}

/** @param {ProjectResults} project @param {ProjectResults['cards'][number]} card */
function cardItem({ project }, card) {
  const item = document.createElement('li');
  item.dataset.state = card.state ?? '';
  const heading = document.createElement('h2');
  heading.textContent = card.title;
  const line = document.createElement('p');
  line.className = 'quiet';
  const took = card.cached ? 'from the cache' : card.tookMs === null ? '' : duration(card.tookMs);
  const state = states[/** @type {keyof typeof states} */ (card.state ?? 'unknown')] ?? 'Not run yet';
  line.textContent = [card.state === null ? 'Not run yet' : state, took].filter(Boolean).join(' · ');
  const outputs = document.createElement('div');
  outputs.className = 'outputs';
  for (const output of card.outputs) {
    const button = document.createElement('button');
    button.className = 'secondary';
    button.textContent = `${output.port} (${output.type}, ${size(output.bytes)})`;
    button.addEventListener('click', () => show(project, card.card, output, button));
    outputs.append(button);
  }
  item.append(heading, line, outputs);
  return item;
}

/** @param {string} project @param {string} card @param {{ port: string, type: string }} output @param {HTMLElement} from */
async function show(project, card, output, from) {
  const own = (shown = { card, port: output.port });
  cameFrom = from;
  part('outputName').textContent = `${card}/${output.port}`;
  part('outputBody').replaceChildren('Reading…');
  part('output').hidden = false;
  try {
    const element = await preview(project, card, output);
    if (shown !== own) return;
    part('outputBody').replaceChildren(element);
    part('output').scrollIntoView({ block: 'nearest' });
    part('close').focus();
  } catch (error) {
    if (shown !== own) return;
    close();
    failed(error);
  }
}

function close() {
  shown = undefined;
  part('output').hidden = true;
}

/** @param {number} ms */
function duration(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

/** @param {string} words */
function say(words) {
  part('said').textContent = words;
}

/** @param {any} error */
function failed(error) {
  const remedies = {
    'not-found': 'This result is no longer there. Refresh.',
    'too-large': 'This result is too large to be shown here. Open it in the run view.',
    'not-allowed': 'This app was not permitted to read results.',
  };
  say(remedies[/** @type {keyof typeof remedies} */ (error.code)] ?? `That did not work: ${error.message}`);
}
