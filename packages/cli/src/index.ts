export type { CliContext, CliIo } from './context.js';
export { createProgram, VERSION } from './program.js';
export { run } from './run.js';
