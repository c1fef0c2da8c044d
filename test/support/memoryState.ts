/** The part of VS Code's `Memento` that the extension uses. What is read is a copy, as there. */
export function memoryState(kept: Record<string, unknown> = {}) {
  const values = new Map(Object.entries(kept));
  return {
    get: (name: string): unknown => structuredClone(values.get(name)),
    update: async (name: string, value: unknown): Promise<void> => {
      values.set(name, structuredClone(value));
    },
  };
}
