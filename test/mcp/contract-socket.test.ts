import path from 'node:path';
import { contractSuite } from './contract/suite.js';
import { writeLibrary } from './rig/fixtures.js';
import { inProcessRig } from './rig/in-process.js';

contractSuite('mcp.sock itself', () =>
  inProcessRig({ prepare: (paths) => writeLibrary(paths.sessions, path.join(paths.home, 'outside')) }),
);
