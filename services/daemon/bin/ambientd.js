#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

// Before anything is loaded: what the young generation has grown by then is never given back (docs/adr/0024).
setFlagsFromString('--semi-space-growth-factor=1');
await import('../dist/main.js');
