// Signed distances to shapes on a 64 × 64 grid: negative inside, in grid units. Combined by min and max.

export const circle = (cx, cy, r) => (x, y) => Math.hypot(x - cx, y - cy) - r;

export const ring = (cx, cy, r, width) => (x, y) => Math.abs(Math.hypot(x - cx, y - cy) - r) - width / 2;

/** A thick line with round ends. */
export const line = (x1, y1, x2, y2, width) => (x, y) => {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length2 = dx * dx + dy * dy;
  const t = length2 === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / length2));
  return Math.hypot(x - x1 - t * dx, y - y1 - t * dy) - width / 2;
};

export const roundedBox = (x1, y1, x2, y2, r) => (x, y) => {
  const dx = Math.max(x1 + r - x, x - (x2 - r));
  const dy = Math.max(y1 + r - y, y - (y2 - r));
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - r;
};

/** A polygon with rounded corners; points in clockwise order on the screen. */
export const polygon = (points, r) => (x, y) => {
  let outside = Number.NEGATIVE_INFINITY;
  let edge = Number.POSITIVE_INFINITY;
  points.forEach(([x1, y1], i) => {
    const [x2, y2] = points[(i + 1) % points.length];
    outside = Math.max(outside, ((x - x1) * (y2 - y1) - (y - y1) * (x2 - x1)) / Math.hypot(x2 - x1, y2 - y1));
    edge = Math.min(edge, line(x1, y1, x2, y2, 0)(x, y));
  });
  return (outside < 0 ? -edge : edge) - r;
};

/** Part of a ring between two angles in degrees, clockwise from three o'clock, with round ends. */
export const arc = (cx, cy, r, width, from, to) => {
  const at = (degrees) => [cx + r * Math.cos((degrees * Math.PI) / 180), cy + r * Math.sin((degrees * Math.PI) / 180)];
  const ends = [from, to].map((degrees) => circle(...at(degrees), width / 2));
  return (x, y) => {
    const angle = ((((Math.atan2(y - cy, x - cx) * 180) / Math.PI - from) % 360) + 360) % 360;
    return angle <= to - from ? ring(cx, cy, r, width)(x, y) : Math.min(...ends.map((end) => end(x, y)));
  };
};

export const union =
  (...shapes) =>
  (x, y) =>
    Math.min(...shapes.map((shape) => shape(x, y)));

export const without = (shape, hole) => (x, y) => Math.max(shape(x, y), -hole(x, y));

/** Opacity 0..1 of each pixel of a `size` × `size` picture, from 8 × 8 samples a pixel. */
export function coverage(shape, size) {
  const SAMPLES = 8;
  const scale = 64 / size;
  const mask = new Float64Array(size * size);
  for (let py = 0; py < size; py++)
    for (let px = 0; px < size; px++) {
      let inside = 0;
      for (let sy = 0; sy < SAMPLES; sy++)
        for (let sx = 0; sx < SAMPLES; sx++)
          if (shape((px + (sx + 0.5) / SAMPLES) * scale, (py + (sy + 0.5) / SAMPLES) * scale) <= 0) inside++;
      mask[py * size + px] = inside / (SAMPLES * SAMPLES);
    }
  return mask;
}
