import type { TrayPrograms } from './layout.js';

/** The autostart entry of XDG desktops. */
export function renderDesktopEntry({ node, tray, ambientctl }: TrayPrograms, home: string): string {
  const command = ['env', `AMBIENT_HOME=${home}`, node, tray, '--ambientctl', ambientctl];
  return `${[
    '[Desktop Entry]',
    'Type=Application',
    'Name=Ambient',
    'Comment=Shows what Ambient records',
    `Exec=${command.map(quote).join(' ')}`,
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
  ].join('\n')}\n`;
}

/**
 * One argument of Exec: quoted, with `"`, backquote, `$` and `\` escaped, `%` doubled; and every backslash once more,
 * because the value is a string of the desktop entry format too.
 */
function quote(argument: string): string {
  if (/^[\w./-]+$/.test(argument)) return argument;
  return `"${argument.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%')}"`.replaceAll('\\', '\\\\');
}
