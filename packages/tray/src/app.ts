import type { AmbientClient } from '@ambient/client';
import { AmbientError } from '@ambient/contract';
import { DaemonFeed } from './feed.js';
import { type Action, type MenuItem, type MenuModel, type MenuOptions, menuModel } from './menu.js';
import { type PerformOptions, perform } from './perform.js';
import { INITIAL, reduce, type TrayInput, type TrayState } from './state.js';

/** Where the menu is shown. */
export interface TrayView {
  open(model: MenuModel): Promise<void>;
  show(model: MenuModel): void;
  close(): Promise<void>;
}

export interface AppOptions {
  readonly client: AmbientClient;
  readonly menu: MenuOptions;
  readonly perform: PerformOptions;
  readonly onQuit: () => void;
}

/** Levels come four times a second; the menu is drawn anew at most so often, ms. */
const DRAW_MS = 250;
/** The elapsed time runs on between events, ms. */
const TICK_MS = 1_000;

/** Events in, menus out, clicks to the daemon. */
export class TrayApp {
  readonly #options: AppOptions;
  readonly #view: TrayView;
  readonly #feed: DaemonFeed;
  #state: TrayState = INITIAL;
  #draw: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  constructor(options: AppOptions, view: TrayView) {
    this.#options = options;
    this.#view = view;
    this.#feed = new DaemonFeed(options.client, (input) => this.#take(input));
  }

  /** @throws AmbientError when there is no tray to show it in */
  async start(): Promise<void> {
    await this.#view.open(this.#model());
    this.#tick = setInterval(() => this.#schedule(), TICK_MS);
    this.#feed.start();
  }

  async stop(): Promise<void> {
    clearInterval(this.#tick);
    clearTimeout(this.#draw);
    await this.#feed.stop();
    clearTimeout(this.#draw);
    await this.#view.close();
  }

  click(item: MenuItem): void {
    const { action } = item;
    if (action === undefined) return;
    if (action.kind === 'quit') this.#options.onQuit();
    else if (action.kind === 'acknowledge') this.#take({ type: 'acknowledged', key: action.key });
    else void this.#perform(action);
  }

  async #perform(action: Action): Promise<void> {
    try {
      await perform(action, this.#options.perform);
    } catch (error) {
      const hint = error instanceof AmbientError ? (error.hint ?? null) : null;
      this.#take({ type: 'notice', message: error instanceof Error ? error.message : String(error), hint });
    }
  }

  #take(input: TrayInput): void {
    this.#state = reduce(this.#state, input, performance.now());
    this.#schedule();
  }

  #schedule(): void {
    this.#draw ??= setTimeout(() => {
      this.#draw = undefined;
      this.#view.show(this.#model());
    }, DRAW_MS);
  }

  #model(): MenuModel {
    return menuModel(this.#state, this.#options.menu, performance.now(), Date.now());
  }
}
