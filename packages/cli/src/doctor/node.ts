import { failure, type LocalCheck, ok } from './types.js';

const LEAST = [20, 19] as const;

export const checkNode: LocalCheck = async () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
  const detail = `version ${process.versions.node}, ${process.execPath}`;
  return [fits ? ok('node', 'Node', detail) : failure('node', 'Node', detail, `Install Node ${LEAST.join('.')} or later.`)];
};
