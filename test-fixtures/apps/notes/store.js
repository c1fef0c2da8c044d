// @ts-check
/// <reference path="sallyport.d.ts" />

/**
 * A note is a file: its first line is the title, the rest the text.
 * @typedef {{ path: string, title: string, text: string, modifiedAt: number }} Note
 */

const folder = 'notes/';

/** @returns {Promise<Note[]>} The latest first. */
async function readNotes() {
  const files = await sallyport.files.list(folder);
  const notes = await Promise.all(
    files.map(async ({ path, modifiedAt }) => toNote(path, modifiedAt, await sallyport.files.get(path))),
  );
  return notes.sort((a, b) => b.modifiedAt - a.modifiedAt);
}

/** @param {Note} note */
async function writeNote(note) {
  const { modifiedAt } = await sallyport.files.put(note.path, `${note.title.replaceAll('\n', ' ')}\n${note.text}`);
  note.modifiedAt = modifiedAt;
  await sallyport.plugins.call('search', 'add', { path: note.path });
}

/** @param {Note} note */
async function removeNote(note) {
  await sallyport.files.delete(note.path);
  await sallyport.plugins.call('search', 'add', { path: note.path });
}

/** @param {string} query @returns {Promise<string[]>} Paths, the best first. */
async function findNotes(query) {
  const found = /** @type {{ path: string }[]} */ (await sallyport.plugins.call('search', 'find', { query }));
  return found.map(({ path }) => path);
}

/** @returns {Note} */
function freshNote() {
  const name = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
  return { path: `${folder}${name}.md`, title: '', text: '', modifiedAt: Date.now() };
}

/** @param {string} path @param {number} modifiedAt @param {string} content @returns {Note} */
function toNote(path, modifiedAt, content) {
  const end = content.indexOf('\n');
  const title = end < 0 ? content : content.slice(0, end);
  return { path, title, text: end < 0 ? '' : content.slice(end + 1), modifiedAt };
}
