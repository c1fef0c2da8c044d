// @ts-check
/// <reference path="sallyport.d.ts" />

/** @param {string} id @returns {any} */
const part = (id) => document.getElementById(id);
const [search, list, form, title, text] = ['search', 'list', 'note', 'title', 'text'].map(part);

/** @type {Note[]} */
let notes = [];
/** Paths that the search found; null shows all. @type {string[] | null} */
let found = null;
/** @type {Note | undefined} */
let current;
/** @type {Model[]} */
let models = [];
/** @type {AbortController | undefined} */
let writing;
/** What was typed and is not stored yet. @type {Note | undefined} */
let unsaved;
let saveTimer = 0;

const saveAfterMs = 400;

start().catch(failed);

async function start() {
  notes = await readNotes();
  show(notes[0]);
  await Promise.all([showUse(), showModels()]);
}

/** @param {Note | undefined} note */
function show(note) {
  saveNow();
  current = note;
  form.hidden = !note;
  part('none').hidden = Boolean(note);
  part('summary').hidden = true;
  writing?.abort();
  if (note) {
    title.value = note.title;
    text.value = note.text;
  }
  drawList();
}

function drawList() {
  const shown = found === null ? notes : found.flatMap((path) => notes.filter((note) => note.path === path));
  list.replaceChildren(
    ...shown.map((note) => {
      const item = document.createElement('li');
      item.id = `note-${notes.indexOf(note)}`;
      item.role = 'option';
      item.ariaSelected = String(note === current);
      item.append(line(note.title || 'Untitled', ''), line(new Date(note.modifiedAt).toLocaleString(), 'when'));
      item.addEventListener('click', () => show(note));
      return item;
    }),
  );
  if (current) list.setAttribute('aria-activedescendant', `note-${notes.indexOf(current)}`);
  else list.removeAttribute('aria-activedescendant');
  list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  return shown;
}

/** @param {string} words @param {string} className */
function line(words, className) {
  const span = document.createElement('span');
  span.textContent = words;
  span.className = className;
  return span;
}

list.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
  const shown = drawList();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Enter') text.focus();
  if (!step || shown.length === 0) return;
  event.preventDefault();
  const at = current ? shown.indexOf(current) : -1;
  show(shown[Math.min(Math.max(at + step, 0), shown.length - 1)]);
});

part('new').addEventListener('click', () => {
  const note = freshNote();
  notes.unshift(note);
  found = null;
  search.value = '';
  show(note);
  title.focus();
});

for (const field of [title, text]) {
  field.addEventListener('input', () => {
    if (!current) return;
    current.title = title.value;
    current.text = text.value;
    saveSoon(current);
  });
}

/** @param {Note} note */
function saveSoon(note) {
  if (unsaved !== note) saveNow();
  unsaved = note;
  say('Not saved yet');
  clearTimeout(saveTimer);
  saveTimer = setTimeout(saveNow, saveAfterMs);
}

function saveNow() {
  clearTimeout(saveTimer);
  const note = unsaved;
  unsaved = undefined;
  if (!note) return;
  writeNote(note)
    .then(() => {
      if (!unsaved) say('Saved');
      drawList();
      return showUse();
    })
    .catch(failed);
}

search.addEventListener('input', () => {
  const query = search.value.trim();
  const asked = query === '' ? Promise.resolve(null) : findNotes(query);
  asked
    .then((paths) => {
      if (query !== search.value.trim()) return;
      found = paths;
      const shown = drawList();
      say(query === '' ? '' : shown.length === 1 ? '1 note found' : `${shown.length} notes found`);
    })
    .catch(failed);
});

part('delete').addEventListener('click', () => {
  const note = current;
  if (!note) return;
  if (unsaved === note) unsaved = undefined;
  notes = notes.filter((each) => each !== note);
  show(notes[0]);
  removeNote(note)
    .then(() => {
      say(`Deleted “${note.title || 'Untitled'}”.`, () => {
        notes.unshift(note);
        show(note);
        writeNote(note).then(() => say('It is back'), failed);
      });
      return showUse();
    })
    .catch(failed);
});

part('save').addEventListener('click', () => {
  if (!current) return;
  const name = `${current.title.replace(/[^\p{L}\p{N} _-]/gu, '').trim() || 'note'}.md`;
  sallyport.downloads
    .save(name, `# ${current.title}\n\n${current.text}`)
    .then((saved) => say(saved ? 'Saved as a file' : ''))
    .catch(failed);
});

part('sum').addEventListener('click', () => {
  if (!current || current.text.trim() === '') return say('This note has nothing to sum up');
  sumUp(current).catch((error) => {
    if (error.code !== 'cancelled') failed(error);
  });
});
part('stop').addEventListener('click', () => writing?.abort());

/** @param {Note} note */
async function sumUp(note) {
  writing = new AbortController();
  await showModels();
  const words = part('summaryText');
  words.textContent = '';
  part('summaryBy').textContent = 'Writing…';
  part('summary').hidden = false;
  busy(true);
  try {
    const answer = await sallyport.generate.text(
      {
        system: 'You sum up notes. Answer with at most three short sentences of plain text, in the language of the note.',
        messages: [{ role: 'user', text: `${note.title}\n\n${note.text}` }],
        ...(part('model').value === '' ? {} : { model: part('model').value }),
      },
      { signal: writing.signal, onText: (piece) => words.append(piece) },
    );
    words.textContent = answer.text;
    part('summaryBy').textContent = `Written by ${models.find(({ id }) => id === answer.model)?.name ?? answer.model}`;
  } catch (error) {
    part('summary').hidden = words.textContent === '';
    part('summaryBy').textContent = 'Not finished';
    throw error;
  } finally {
    busy(false);
  }
}

/** @param {boolean} isBusy */
function busy(isBusy) {
  part('sum').disabled = isBusy;
  part('stop').hidden = !isBusy;
}

async function showModels() {
  const chosen = part('model').value;
  models = await sallyport.models.list('text');
  part('model').replaceChildren(
    new Option(models.length === 0 ? 'No model connected' : 'The model you chose', ''),
    ...models.map(({ id, name }) => new Option(name, id)),
  );
  if (models.some(({ id }) => id === chosen)) part('model').value = chosen;
}

async function showUse() {
  const { usedBytes, limitBytes } = await sallyport.files.quota();
  part('used').textContent = `${notes.length} ${notes.length === 1 ? 'note' : 'notes'} · ${size(usedBytes)} of ${size(limitBytes)}`;
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** @param {string} words @param {() => void} [undo] */
function say(words, undo) {
  part('said').textContent = words;
  part('undo').hidden = !undo;
  part('undo').onclick = () => undo?.();
}

/** @param {any} error */
function failed(error) {
  /** @type {Record<string, string>} */
  const remedies = {
    quota: 'There is no room left. Delete some notes.',
    'no-model': 'No model is connected. Run “Sallyport: Manage Connections”.',
    'plugin-off': 'Search is switched off. Switch the plugin on in the Apps view.',
  };
  say(remedies[error.code] ?? `That did not work: ${error.message}`);
}
