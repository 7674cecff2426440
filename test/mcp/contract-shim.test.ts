import path from 'node:path';
import { contractSuite } from './contract/suite.js';
import { daemonRig } from './rig/daemon.js';
import { writeLibrary } from './rig/fixtures.js';

contractSuite('the shim and a daemon that records', () =>
  daemonRig((paths) => writeLibrary(paths.sessions, path.join(paths.home, 'outside'))),
);
