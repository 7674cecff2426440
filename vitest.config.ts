import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    // Real audio, models and processes share two cores: one file at a time.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Sound servers, panels and killed processes on a shared machine: CI gives a failed test one more chance, and shows both.
    retry: process.env.CI ? 1 : 0,
  },
});
