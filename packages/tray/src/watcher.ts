import { execFile } from 'node:child_process';

/** A panel that has not come by then is not going to, ms. */
const PATIENCE_MS = 15_000;
const POLL_MS = 500;

const ARGUMENTS = ['org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'NameHasOwner'] as const;

/** The same question for each program that can ask it. */
const QUESTIONS: readonly (readonly [string, readonly string[]])[] = [
  ['busctl', ['--user', 'call', ...ARGUMENTS, 's', 'org.kde.StatusNotifierWatcher']],
  [
    'dbus-send',
    [
      '--session',
      '--print-reply=literal',
      `--dest=${ARGUMENTS[0]}`,
      ARGUMENTS[1],
      `${ARGUMENTS[2]}.${ARGUMENTS[3]}`,
      'string:org.kde.StatusNotifierWatcher',
    ],
  ],
  [
    'gdbus',
    [
      'call',
      '--session',
      '--dest',
      ARGUMENTS[0],
      '--object-path',
      ARGUMENTS[1],
      '--method',
      `${ARGUMENTS[2]}.${ARGUMENTS[3]}`,
      'org.kde.StatusNotifierWatcher',
    ],
  ],
];

/**
 * Waits for the panel's side of the tray at login. A tray program that comes first falls back to the older protocol,
 * and shows a second icon once the panel is there.
 */
export async function untilPanel(signal: AbortSignal): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS && !signal.aborted; waited += POLL_MS) {
    if ((await panelIsThere()) !== false) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Undefined when nothing on this machine can ask. */
async function panelIsThere(): Promise<boolean | undefined> {
  for (const [command, args] of QUESTIONS) {
    const answer = await ask(command, args);
    if (answer !== undefined) return /\btrue\b/.test(answer);
  }
  return undefined;
}

function ask(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, [...args], { timeout: 5_000 }, (error, stdout) => resolve(error === null ? stdout : undefined));
  });
}
