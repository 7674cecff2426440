import { COMMON_OWN, commonLaunch, configFolder, ENTRY, type Host } from './host.js';

export const zed: Host = {
  id: 'zed',
  title: 'Zed',
  format: 'json',
  files: (place) => [`${place.platform === 'darwin' ? `${place.home}/.config` : configFolder(place)}/zed/settings.json`],
  path: () => ['context_servers', ENTRY],
  entry: ({ command, args, env }) => ({ command, args, env }),
  launch: commonLaunch,
  own: COMMON_OWN,
  next: 'Zed starts `ambient` by itself; Settings > AI > MCP Servers shows a green dot beside it.',
};
