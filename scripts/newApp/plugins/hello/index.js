const path = 'greetings.json';

export async function greet({ name }, { storage }) {
  const count = Number((await storage.get(path)) ?? 0) + 1;
  await storage.put(path, String(count));
  return `Hello, ${name}! This is greeting ${count}.`;
}
