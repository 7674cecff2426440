#!/usr/bin/env node
// Draws the tray's icons: `node tools/icons/draw.mjs [--check]`. With --check, only says whether the files are up to date.
//
// Each state has a shape of its own, so that it is told apart without colour: macOS shows template images in one tint.
// `light` icons are for light panels, `dark` ones for dark panels.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodePng, encodePng } from './png.mjs';
import { arc, circle, coverage, line, polygon, ring, roundedBox, union, without } from './shapes.mjs';

export const SIZE = 64;
export const DIR = path.resolve(import.meta.dirname, '../../packages/tray/icons');

const SHAPES = {
  idle: ring(32, 32, 20, 7),
  recording: circle(32, 32, 23),
  listening: union(ring(32, 32, 20, 7), circle(32, 32, 8)),
  paused: union(roundedBox(14, 11, 27, 53, 4), roundedBox(37, 11, 50, 53, 4)),
  transcribing: union(line(13, 18, 51, 18, 8), line(13, 32, 51, 32, 8), line(13, 46, 34, 46, 8)),
  warning: without(
    polygon(
      [
        [32, 12],
        [54, 50],
        [10, 50],
      ],
      5,
    ),
    union(line(32, 25, 32, 37, 6), circle(32, 46, 3.5)),
  ),
  approval: without(roundedBox(8, 8, 56, 56, 13), union(arc(32, 26, 8.5, 6, 190, 415), line(36.9, 33, 32, 39, 6), circle(32, 48, 3.8))),
  offline: union(without(ring(32, 32, 20, 7), line(12, 52, 52, 12, 15)), line(12, 52, 52, 12, 6)),
};

const COLOURS = {
  idle: { light: '#3c4043', dark: '#e8eaed' },
  recording: { light: '#d93025', dark: '#f2453d' },
  listening: { light: '#d93025', dark: '#f2453d' },
  paused: { light: '#5f6b7a', dark: '#a9b4c2' },
  transcribing: { light: '#1a73e8', dark: '#5aa0f8' },
  warning: { light: '#e08600', dark: '#f9ab00' },
  approval: { light: '#8430ce', dark: '#b072f0' },
  offline: { light: '#9aa0a6', dark: '#80868b' },
};

export const ICONS = Object.keys(SHAPES);

/** Path under the icons folder, and pixels, of every icon. */
export function* drawAll() {
  for (const name of ICONS) {
    const mask = coverage(SHAPES[name], SIZE);
    yield { file: `light/${name}.png`, pixels: paint(mask, COLOURS[name].light) };
    yield { file: `dark/${name}.png`, pixels: paint(mask, COLOURS[name].dark) };
    yield { file: `template/${name}.png`, pixels: paint(mask, '#000000') };
  }
}

function paint(mask, colour) {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const pixels = Buffer.alloc(mask.length * 4);
  mask.forEach((opacity, i) => {
    pixels.set([r, g, b, Math.round(opacity * 255)], i * 4);
  });
  return pixels;
}

/** Compares pixels, not bytes: compression differs between builds of zlib. */
export function isUpToDate(file, pixels) {
  const target = path.join(DIR, file);
  return existsSync(target) && decodePng(readFileSync(target)).pixels.equals(pixels);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stale = [...drawAll()].filter(({ file, pixels }) => !isUpToDate(file, pixels));
  if (process.argv.includes('--check')) {
    for (const { file } of stale) console.log(`${file} is not what tools/icons/draw.mjs draws`);
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    for (const { file, pixels } of stale) {
      mkdirSync(path.dirname(path.join(DIR, file)), { recursive: true });
      writeFileSync(path.join(DIR, file), encodePng(pixels, SIZE, SIZE));
    }
    console.log(`${stale.length} icons written to ${path.relative(process.cwd(), DIR)}`);
  }
}
