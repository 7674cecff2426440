import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Processes } from './processes.js';

const [WIDTH, HEIGHT] = [400, 100];

const PANEL = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="true"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="48"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray">
      <property name="icon-size" type="int" value="44"/>
    </property>
  </property>
</channel>
`;

/** A screen without a monitor, a session bus and a panel that shows tray icons: all real. */
export class Desktop {
  readonly #dir: string;
  readonly #processes = new Processes();
  #env: NodeJS.ProcessEnv = {};

  /** @param dir a folder of the test's own, which becomes the user's home */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Environment of programs on this desktop. */
  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }

  get busAddress(): string {
    return this.#env.DBUS_SESSION_BUS_ADDRESS ?? '';
  }

  async start(): Promise<void> {
    const config = path.join(this.#dir, '.config');
    const channel = path.join(config, 'xfce4/xfconf/xfce-perchannel-xml');
    const runtime = path.join(this.#dir, 'runtime');
    await mkdir(channel, { recursive: true });
    await mkdir(runtime, { mode: 0o700 });
    await writeFile(path.join(channel, 'xfce4-panel.xml'), PANEL);
    const base = {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      HOME: this.#dir,
      XDG_CONFIG_HOME: config,
      XDG_CACHE_HOME: path.join(this.#dir, '.cache'),
      XDG_RUNTIME_DIR: runtime,
      NO_AT_BRIDGE: '1',
      GSETTINGS_BACKEND: 'memory',
    };
    const screen = this.#processes.start('Xvfb', ['-displayfd', '3', '-screen', '0', `${WIDTH}x${HEIGHT}x24`, '-nolisten', 'tcp'], {
      env: base,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const display = `:${await firstLine(screen.stdio[3] as Readable)}`;
    const bus = this.#processes.start('dbus-daemon', ['--session', '--nofork', '--print-address=1'], {
      env: { ...base, DISPLAY: display },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#env = { ...base, DISPLAY: display, DBUS_SESSION_BUS_ADDRESS: await firstLine(bus.stdout as Readable) };
    this.#processes.start('xfce4-panel', ['--disable-wm-check'], { env: this.#env, stdio: 'ignore' });
  }

  async stop(): Promise<void> {
    await this.#processes.stopAll();
  }

  /** How many pixels of the screen have this colour (`#rrggbb`), and how far apart the outermost are, in columns. */
  async find(colour: string): Promise<{ readonly pixels: number; readonly width: number }> {
    const wanted = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    const { stdout } = await promisify(execFile)('import', ['-silent', '-window', 'root', '-depth', '8', 'rgb:-'], {
      env: this.#env,
      encoding: 'buffer',
      maxBuffer: 16 * 1024 * 1024,
    });
    if (stdout.length !== WIDTH * HEIGHT * 3) throw new Error(`the screenshot has ${stdout.length} bytes`);
    const columns: number[] = [];
    for (let i = 0; i < WIDTH * HEIGHT; i++)
      // Scaling changes a colour a little.
      if (wanted.every((value, c) => Math.abs(value - (stdout[i * 3 + c] ?? 0)) <= 6)) columns.push(i % WIDTH);
    return { pixels: columns.length, width: columns.length === 0 ? 0 : Math.max(...columns) - Math.min(...columns) + 1 };
  }
}

function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end).trim());
    });
    stream.once('end', () => reject(new Error('the program ended before it said where it is')));
  });
}
