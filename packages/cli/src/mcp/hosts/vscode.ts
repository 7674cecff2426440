import { COMMON_OWN, commonLaunch, configFolder, ENTRY, type Host, shell } from './host.js';

export const vscode: Host = {
  id: 'vscode',
  title: 'VS Code',
  format: 'json',
  files: (place) => [
    place.platform === 'darwin'
      ? `${place.home}/Library/Application Support/Code/User/mcp.json`
      : `${configFolder(place)}/Code/User/mcp.json`,
  ],
  path: () => ['servers', ENTRY],
  entry: ({ command, args, env }) => ({ type: 'stdio', command, args, env }),
  launch: commonLaunch,
  own: COMMON_OWN,
  byHand: ({ command, args, env }) => [
    shell([
      'code',
      '--add-mcp',
      JSON.stringify({ name: ENTRY, type: 'stdio', command, args, ...(Object.keys(env).length > 0 ? { env } : {}) }),
    ]),
  ],
  next: 'In VS Code run "MCP: List Servers" and start `ambient`.',
};
