// @ts-check
/// <reference path="sallyport.d.ts" />

const form = /** @type {HTMLFormElement} */ (document.getElementById('greeting'));
const nameField = /** @type {HTMLInputElement} */ (document.getElementById('name'));
const said = /** @type {HTMLElement} */ (document.getElementById('said'));

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    said.textContent = String(await sallyport.plugins.call('hello', 'greet', { name: nameField.value }));
  } catch (error) {
    said.textContent = `That did not work: ${/** @type {Error} */ (error).message}`;
  }
});
