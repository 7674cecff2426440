import { execFile } from 'node:child_process';

export type Theme = 'light' | 'dark';

/**
 * Which icons suit the panel. Desktops say whether they prefer dark; where none does, dark: most panels are, whatever
 * the windows look like.
 */
export async function panelTheme(): Promise<Theme> {
  const scheme = await ask('gsettings', ['get', 'org.gnome.desktop.interface', 'color-scheme']);
  if (scheme?.includes('prefer-light') === true) return 'light';
  if (scheme?.includes('prefer-dark') === true) return 'dark';
  const xfce = await ask('xfconf-query', ['-c', 'xfce4-panel', '-p', '/panels/dark-mode']);
  return xfce?.trim() === 'false' ? 'light' : 'dark';
}

function ask(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, [...args], { timeout: 2_000 }, (error, stdout) => resolve(error === null ? stdout : undefined));
  });
}
