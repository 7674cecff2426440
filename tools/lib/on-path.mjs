// How to get `ambientctl` onto PATH: everything the program and its pages advise names it without a folder.
import { realpathSync } from 'node:fs';
import path from 'node:path';

/** The command that links it into the user's own programs. The script itself: npm's wrapper does not work through a link. */
export function linkCommand(root) {
  const script = path.join(root, 'packages/cli/bin/ambientctl.js');
  return `mkdir -p ~/.local/bin && ln -sf '${script.replaceAll("'", "'\\''")}' ~/.local/bin/ambientctl`;
}

/** One line that says how, or undefined when `ambientctl` is this checkout's own already. */
export function onPathLine(root, env = process.env) {
  const own = realpathSync(path.join(root, 'packages/cli/bin/ambientctl.js'));
  // npm puts the checkout's own programs onto PATH for as long as its script runs.
  const folders = (env.PATH ?? '').split(':').filter((dir) => path.isAbsolute(dir) && !dir.includes('/node_modules/'));
  if (folders.some((dir) => resolves(path.join(dir, 'ambientctl')) === own)) return undefined;
  return `To type ambientctl instead of npx ambientctl, in any folder: ${linkCommand(root)}`;
}

function resolves(file) {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
