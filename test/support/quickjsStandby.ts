/** A program that ends with a thread standing by. Nothing ends the thread: it must not keep the process alive. */
import { startTestThread } from './quickjs.ts';

const held = setInterval(() => undefined, 1000);
await startTestThread().ready;
clearInterval(held);
process.stdout.write('one thread stands by\n');
