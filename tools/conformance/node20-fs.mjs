// The conformance suite imports `globSync`, which `fs` has from Node 22 on, for a command that is not used here.
// `node --import` this file to run the suite on Node 20.
import { register } from 'node:module';

const FS = "export * from 'node:fs'; export function globSync() { throw new Error('needs Node 22'); }";
const HOOKS = `
export function resolve(specifier, context, next) {
  if (specifier !== 'fs' || !context.parentURL?.endsWith('/conformance/dist/index.js')) return next(specifier, context);
  return { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(FS)}`)}, shortCircuit: true };
}`;

if (Number(process.versions.node.split('.')[0]) < 22) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
