const path = 'greetings.json';

/**
 * @param {{ name: string }} input
 * @param {PluginApi} sallyport
 */
export async function greet({ name }, { storage }) {
  const count = Number((await storage.get(path)) ?? 0) + 1;
  await storage.put(path, String(count));
  return `Hello, ${name}! This is greeting ${count}.`;
}
