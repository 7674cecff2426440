import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { CLIENT_KINDS } from '../rig/client.js';
import type { Rig } from '../rig/rig.js';
import { libraryPage } from './library-page.js';
import { liveSuite } from './live.js';
import { sessionsPage } from './sessions-page.js';

/** Both pages through every kind of client, over the given way to connect. Prints how many assertions were made. */
export function contractSuite(name: string, open: () => Promise<Rig>): void {
  describe(`MCP contracts over ${name}`, () => {
    let rig: Rig;
    let assertions = 0;
    beforeAll(async () => {
      rig = await open();
    });
    afterEach(() => {
      assertions += expect.getState().assertionCalls;
    });
    afterAll(async () => {
      await rig.close();
      console.log(`MCP contracts over ${name}: ${assertions} assertions`);
    });
    describe.each(CLIENT_KINDS)('client %s', (kind) => {
      describe('sessions page', () => sessionsPage(() => rig, kind));
      describe('library page', () => libraryPage(() => rig, kind));
    });
    describe('every client at once', () => liveSuite(() => rig));
  });
}
