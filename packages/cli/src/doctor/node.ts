import { check } from '@ambient/contract';
import type { LocalCheck } from './types.js';

const LEAST = [20, 19] as const;

export const checkNode: LocalCheck = async () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
  const detail = `Version ${process.versions.node}, ${process.execPath}.`;
  return [fits ? check.ok('node', 'Node', detail) : check.failure('node', 'Node', detail, `Install Node ${LEAST.join('.')} or later.`)];
};
