const form = document.getElementById('greeting') as HTMLFormElement;
const nameField = document.getElementById('name') as HTMLInputElement;
const said = document.getElementById('said') as HTMLElement;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    said.textContent = String(await sallyport.plugins.call('hello', 'greet', { name: nameField.value }));
  } catch (error) {
    said.textContent = `That did not work: ${(error as Error).message}`;
  }
});

export {};
