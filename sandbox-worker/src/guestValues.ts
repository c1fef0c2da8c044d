import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';

/** Thrown by the host where the instance has no memory left for what the host must place in it. */
export class OutOfMemory extends Error {
  override readonly name = 'InternalError';
  override readonly message = 'out of memory';
}

/** The string behind a handle, or undefined where it is none or longer than `limit` UTF-16 units. Runs no guest code. */
export function readString(
  context: QuickJSContext,
  handle: QuickJSHandle | undefined,
  limit: number,
): string | undefined {
  if (handle === undefined || context.typeof(handle) !== 'string') return undefined;
  const length = context.getProp(handle, 'length').consume((value) => context.getNumber(value));
  if (length > limit) return undefined;
  const text = context.getString(handle);
  // QuickJS gives no C string where it has no memory for one, which arrives here as an empty one.
  if (text === '' && length > 0) throw new OutOfMemory();
  return text;
}

/**
 * Places a string in the instance. Strings go in as C strings, which end at the first NUL: `text` must have none. The
 * caller disposes of the handle.
 */
export function newString(context: QuickJSContext, text: string): QuickJSHandle {
  const handle = context.newString(text);
  if (context.typeof(handle) !== 'string') throw new OutOfMemory();
  return handle;
}
