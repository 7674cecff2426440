import type { Action, MenuItem, MenuModel } from './menu.js';

export interface SwiftBarOptions {
  /** Command line of ambientctl. */
  readonly ambientctl: readonly string[];
  /** The icon as a template image, base64. */
  readonly image: string;
}

/** The menu in the text format of SwiftBar and xbar plugins. */
export function renderSwiftBar(model: MenuModel, options: SwiftBarOptions): string {
  return `${[`| templateImage=${options.image} tooltip=${quote(model.tooltip)}`, '---', ...lines(model.items, options, '')].join('\n')}\n`;
}

function lines(items: readonly MenuItem[], options: SwiftBarOptions, indent: string): string[] {
  return items
    .filter((item) => item.hidden !== true && item.action?.kind !== 'quit' && item.action?.kind !== 'acknowledge')
    .flatMap((item) => {
      if (item.separator === true) return [`${indent}---`];
      const command = item.action === undefined ? undefined : commandOf(item.action, options.ambientctl);
      return [
        `${indent}${label(item.title)}${command === undefined ? '' : ` | ${parameters(command)}`}`,
        ...lines(item.items ?? [], options, `${indent}--`),
      ];
    })
    .filter((line, i, all) => !(line === '---' && (i === all.length - 1 || all[i + 1] === '---')));
}

/** What a click runs; undefined for what a plugin cannot do. */
export function commandOf(action: Action, ambientctl: readonly string[]): readonly string[] | undefined {
  switch (action.kind) {
    case 'start':
    case 'stop':
    case 'pause':
    case 'resume':
      return [...ambientctl, action.kind];
    case 'start_daemon':
      return [...ambientctl, 'daemon', 'start'];
    case 'mute':
      return [...ambientctl, 'mute', action.track, ...(action.muted ? [] : ['--off'])];
    case 'decide':
      return [...ambientctl, 'approvals', action.decision, action.approval];
    case 'open':
      return ['/usr/bin/open', action.path];
    default:
      return undefined;
  }
}

function parameters([command = '', ...args]: readonly string[]): string {
  return [`bash=${quote(command)}`, ...args.map((arg, i) => `param${i + 1}=${quote(arg)}`), 'terminal=false', 'refresh=true'].join(' ');
}

/** `|` begins a line's parameters and leading dashes nest it: neither may come from a title. */
function label(title: string): string {
  return title.replaceAll('|', '¦').replace(/^-+/, '–');
}

function quote(text: string): string {
  return `"${text.replaceAll('|', '¦').replaceAll('"', "'")}"`;
}
