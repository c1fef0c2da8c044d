// @ts-check
/// <reference path="sallyport.d.ts" />

const form = /** @type {HTMLFormElement} */ (document.getElementById('greeting'));
const nameField = /** @type {HTMLInputElement} */ (document.getElementById('name'));
const said = /** @type {HTMLElement} */ (document.getElementById('said'));
const path = 'greetings.json';

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const [stored] = await sallyport.files.list(path);
    const count = (stored ? Number(await sallyport.files.get(path)) : 0) + 1;
    await sallyport.files.put(path, String(count));
    said.textContent = `Hello, ${nameField.value}! This is greeting ${count}.`;
  } catch (error) {
    said.textContent = `That did not work: ${/** @type {Error} */ (error).message}`;
  }
});
