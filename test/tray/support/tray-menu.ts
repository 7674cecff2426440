import dbus, { type MessageBus } from 'dbus-next';

const { Message, Variant } = dbus;
const ITEM = '/org/ayatana/NotificationItem/systray';
const MENU = 'com.canonical.dbusmenu';

export interface ShownItem {
  readonly id: number;
  readonly label: string;
  readonly visible: boolean;
  readonly enabled: boolean;
  readonly children: readonly ShownItem[];
}

type Node = [id: number, properties: Record<string, { value: unknown }>, children: { value: Node }[]];

/** The tray's menu as a desktop sees it: over D-Bus. */
export class TrayMenu {
  readonly #bus: MessageBus;

  constructor(busAddress: string) {
    this.#bus = dbus.sessionBus({ busAddress });
  }

  close(): void {
    this.#bus.disconnect();
  }

  /** Bus name of the tray item, or undefined while none is registered with the panel. */
  async owner(): Promise<string | undefined> {
    const reply = await this.#call(
      'org.kde.StatusNotifierWatcher',
      '/StatusNotifierWatcher',
      'org.freedesktop.DBus.Properties',
      'Get',
      'ss',
      ['org.kde.StatusNotifierWatcher', 'RegisteredStatusNotifierItems'],
    ).catch(() => undefined);
    const items = (reply?.[0] as { value: string[] } | undefined)?.value ?? [];
    return items.find((item) => item.endsWith(ITEM))?.slice(0, -ITEM.length);
  }

  async items(): Promise<readonly ShownItem[]> {
    const [, root] = (await this.#menu('GetLayout', 'iias', [0, -1, []])) as [number, Node];
    return root[2].map(({ value }) => shownItem(value));
  }

  /** Labels of what can be seen at the top level. */
  async labels(): Promise<string[]> {
    return (await this.items()).filter(({ visible, label }) => visible && label !== '').map(({ label }) => label);
  }

  /** Clicks a visible item, found by the beginnings of the labels on the way to it. */
  async click(...way: readonly string[]): Promise<void> {
    let items = await this.items();
    let found: ShownItem | undefined;
    for (const start of way) {
      found = items.find(({ label, visible, enabled }) => visible && enabled && label.startsWith(start));
      if (found === undefined) throw new Error(`there is no "${start}" among ${items.map(({ label }) => label).join(', ')}`);
      items = found.children;
    }
    await this.#menu('Event', 'isvu', [found?.id, 'clicked', new Variant('i', 0), 0]);
  }

  async #menu(member: string, signature: string, body: unknown[]): Promise<unknown[]> {
    const owner = await this.owner();
    if (owner === undefined) throw new Error('no tray item is registered');
    return this.#call(owner, `${ITEM}/Menu`, MENU, member, signature, body);
  }

  async #call(destination: string, path: string, iface: string, member: string, signature: string, body: unknown[]): Promise<unknown[]> {
    const reply = await this.#bus.call(new Message({ destination, path, interface: iface, member, signature, body }));
    return reply?.body ?? [];
  }
}

function shownItem([id, properties, children]: Node): ShownItem {
  return {
    id,
    label: String(properties.label?.value ?? '').replaceAll('__', '_'),
    visible: properties.visible?.value !== false,
    enabled: properties.enabled?.value !== false,
    children: children.map(({ value }) => shownItem(value)),
  };
}
