import path from 'node:path';
import type { Run } from '../exec.js';
import type { TrayPrograms } from './layout.js';

/** The plugin of SwiftBar and xbar: prints the tray's menu from `ambientctl status --json`. */
export function renderPlugin({ node, tray, ambientctl }: TrayPrograms, home: string): string {
  return `#!/bin/sh
# <xbar.title>Ambient</xbar.title>
# <xbar.desc>Shows what Ambient records</xbar.desc>
# <swiftbar.hideAbout>true</swiftbar.hideAbout>
# <swiftbar.hideRunInTerminal>true</swiftbar.hideRunInTerminal>
AMBIENT_HOME=${quote(home)}
export AMBIENT_HOME
exec ${[node, tray, '--swiftbar', '--ambientctl', ambientctl].map(quote).join(' ')}
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Where SwiftBar (which lets its user choose) and xbar look for plugins. */
export async function pluginFolders(run: Run, userHome: string): Promise<string[]> {
  const chosen = await run('defaults', ['read', 'com.ameba.SwiftBar', 'PluginDirectory']).catch(() => undefined);
  const swiftbar = chosen?.code === 0 ? chosen.stdout.trim().replace(/^~(?=\/)/, userHome) : '';
  return [...(path.isAbsolute(swiftbar) ? [swiftbar] : []), path.join(userHome, 'Library/Application Support/xbar/plugins')];
}
