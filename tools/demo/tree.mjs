import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** A folder with everything in it, indented, with sizes. `title` stands for the folder's own path. */
export function tree(dir, title) {
  return [`${title}/`, ...entries(dir, 1)].join('\n');
}

function entries(dir, depth) {
  return readdirSync(dir, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const full = path.join(dir, entry.name);
      const indent = '  '.repeat(depth);
      if (entry.isDirectory()) return [`${indent}${entry.name}/`, ...entries(full, depth + 1)];
      return [`${indent}${entry.name}  ${size(statSync(full).size)}`];
    });
}

function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : `${Math.round(bytes / 1024)} KiB`;
}
