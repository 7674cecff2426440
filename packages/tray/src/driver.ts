import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import SysTrayModule, { type MenuItem as TrayItem, type Menu as TrayMenu } from 'systray2';
import { ICON_NAMES, type IconName } from './icon.js';
import type { MenuItem, MenuModel } from './menu.js';

/** The library is CommonJS: its class is the `default` of its default. */
const SysTray = SysTrayModule.default;
type SysTray = InstanceType<typeof SysTray>;

/** How long the tray program may take to come up, ms. */
const READY_MS = 15_000;
const POLL_MS = 20;

export interface DriverOptions {
  /** Folder with one PNG an icon. */
  readonly icons: string;
  /** macOS: recolour the icon as the menu bar needs. */
  readonly template: boolean;
  /** Folder with the tray program, prepared by `prepareTrayProgram`. */
  readonly programDir: string;
  readonly onClick: (item: MenuItem) => void;
  /** The tray program ended by itself. */
  readonly onExit: (error: AmbientError) => void;
}

/** Shows menu models in the system tray. Only what changed is sent. */
export class TrayDriver {
  readonly #options: DriverOptions;
  readonly #items = new Map<string, { shown: MenuItem; item: TrayItem }>();
  #icons: Readonly<Record<string, string>> = {};
  #tray: SysTray | undefined;
  #shown: MenuModel | undefined;
  #closing = false;
  #said = '';

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** @throws AmbientError when the tray program does not come up */
  async open(model: MenuModel): Promise<void> {
    this.#icons = await loadIcons(this.#options.icons);
    const menu = { ...this.#head(model), items: model.items.map((item) => this.#build(item)) };
    const tray = new SysTray({ menu, copyDir: this.#options.programDir });
    this.#tray = tray;
    this.#shown = model;
    await this.#ready(tray);
    await tray.onClick(({ item }) => {
      for (const { shown, item: known } of this.#items.values()) if (known === item) this.#options.onClick(shown);
    });
  }

  show(model: MenuModel): void {
    const tray = this.#tray;
    if (tray === undefined || this.#closing) return;
    if (model.icon !== this.#shown?.icon || model.tooltip !== this.#shown.tooltip)
      void tray.sendAction({ type: 'update-menu', menu: { ...this.#head(model), items: [] } });
    this.#shown = model;
    for (const item of flatten(model.items)) this.#update(tray, item);
  }

  async close(): Promise<void> {
    this.#closing = true;
    const child = this.#tray?.process;
    if (child == null || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // The end of its input ends it.
      child.stdin?.end();
      child.kill('SIGTERM');
    });
  }

  #head({ icon, tooltip }: MenuModel): Omit<TrayMenu, 'items'> {
    return { icon: this.#icons[icon] ?? '', title: '', tooltip, isTemplateIcon: this.#options.template };
  }

  #build(item: MenuItem): TrayItem {
    if (item.separator === true) return { ...SysTray.separator };
    const built: TrayItem = {
      ...appearance(item),
      ...(item.items === undefined ? {} : { items: item.items.map((child) => this.#build(child)) }),
    };
    this.#items.set(item.id, { shown: item, item: built });
    return built;
  }

  #update(tray: SysTray, next: MenuItem): void {
    const known = this.#items.get(next.id);
    if (known === undefined) return;
    const before = appearance(known.shown);
    known.shown = next;
    const after = appearance(next);
    if (before.title === after.title && before.hidden === after.hidden && before.enabled === after.enabled) return;
    void tray.sendAction({ type: 'update-item', item: Object.assign(known.item, after) });
  }

  /** The library's own promise never settles when its program does not start; this one does. */
  #ready(tray: SysTray): Promise<void> {
    return new Promise((resolve, reject) => {
      let waited = 0;
      const fail = (why: string): void => {
        clearInterval(watch);
        const error = new AmbientError(
          'unavailable',
          `The tray icon cannot be shown: ${why}`,
          'Start ambient-tray in a desktop session that has a tray.',
        );
        if (this.#closing) return;
        reject(error);
        this.#options.onExit(error);
      };
      let watched = false;
      const watch = setInterval(() => {
        waited += POLL_MS;
        const child = tray.process;
        if (child != null && !watched) {
          watched = true;
          child.stderr?.setEncoding('utf8').on('data', (text: string) => {
            this.#said = (this.#said + text).slice(-2_000);
          });
          child.stdin?.on('error', () => {});
          child.once('exit', (code, signal) => fail(this.#lastWords(code, signal)));
        }
        if (waited >= READY_MS) fail('the tray program does not answer');
      }, POLL_MS);
      tray.ready().then(
        () => {
          clearInterval(watch);
          resolve();
        },
        (error: Error) => fail(error.message),
      );
    });
  }

  #lastWords(code: number | null, signal: NodeJS.Signals | null): string {
    const words = this.#said
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && line !== 'EOF')
      .pop();
    return words ?? `the tray program ended (${signal ?? `exit code ${code}`})`;
  }
}

function appearance(item: MenuItem): { title: string; tooltip: string; enabled: boolean; hidden: boolean } {
  return {
    title: item.title,
    tooltip: '',
    enabled: item.action !== undefined || item.items !== undefined,
    hidden: item.hidden === true,
  };
}

function* flatten(items: readonly MenuItem[]): Generator<MenuItem> {
  for (const item of items) {
    yield item;
    yield* flatten(item.items ?? []);
  }
}

async function loadIcons(dir: string): Promise<Record<IconName, string>> {
  const entries = ICON_NAMES.map(async (name) => [name, (await readFile(path.join(dir, `${name}.png`))).toString('base64')] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<IconName, string>;
}
