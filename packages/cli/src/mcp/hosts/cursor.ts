import { COMMON_OWN, commonLaunch, ENTRY, type Host } from './host.js';

export const cursor: Host = {
  id: 'cursor',
  title: 'Cursor',
  format: 'json',
  files: ({ home }) => [`${home}/.cursor/mcp.json`],
  path: () => ['mcpServers', ENTRY],
  entry: ({ command, args, env }) => ({ command, args, env }),
  launch: commonLaunch,
  own: COMMON_OWN,
  byHand: (launch) => {
    const config = Buffer.from(JSON.stringify(launch)).toString('base64');
    return [`cursor://anysphere.cursor-deeplink/mcp/install?name=${ENTRY}&config=${encodeURIComponent(config)}`];
  },
  next: 'Open Cursor; `ambient` is listed under Settings > MCP.',
};
