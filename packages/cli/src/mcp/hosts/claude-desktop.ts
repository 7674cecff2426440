import { COMMON_OWN, commonLaunch, configFolder, ENTRY, type Host } from './host.js';

export const claudeDesktop: Host = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  files: (place) => [
    place.platform === 'darwin'
      ? `${place.home}/Library/Application Support/Claude/claude_desktop_config.json`
      : `${configFolder(place)}/Claude/claude_desktop_config.json`,
  ],
  path: () => ['mcpServers', ENTRY],
  entry: ({ command, args, env }) => ({ command, args, env }),
  launch: commonLaunch,
  own: COMMON_OWN,
  next: 'Quit Claude Desktop and open it again; `ambient` is then listed under Settings > Developer.',
};
