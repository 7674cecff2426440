import { z } from 'zod';

export const Device = z.object({
  /** What `--device` takes. */
  id: z.string(),
  name: z.string(),
  kind: z.enum(['mic', 'system']),
  default: z.boolean(),
});
export type Device = z.infer<typeof Device>;

export const DeviceList = z.object({
  devices: z.array(Device),
  /** Recording programs found, in the order they are tried. */
  recorders: z.array(z.object({ name: z.string(), path: z.string().nullable() })),
});
export type DeviceList = z.infer<typeof DeviceList>;
