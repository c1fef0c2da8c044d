const form = document.getElementById('greeting') as HTMLFormElement;
const nameField = document.getElementById('name') as HTMLInputElement;
const said = document.getElementById('said') as HTMLElement;
const path = 'greetings.json';

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const [stored] = await sallyport.files.list(path);
    const count = (stored ? Number(await sallyport.files.get(path)) : 0) + 1;
    await sallyport.files.put(path, String(count));
    said.textContent = `Hello, ${nameField.value}! This is greeting ${count}.`;
  } catch (error) {
    said.textContent = `That did not work: ${(error as Error).message}`;
  }
});

export {};
