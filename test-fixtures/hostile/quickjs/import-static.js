// A static import of what is not there.
// expect: exception
import fs from 'node:fs';
export default () => ({ out: typeof fs });
