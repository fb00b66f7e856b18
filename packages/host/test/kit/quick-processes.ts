/** Vitest setup file: processes that tests start load the bundle of `host-bundle.ts`. The worker itself does not. */
const options = process.env.CAIRN_TEST_CHILD_OPTIONS;
if (options !== undefined) process.env.NODE_OPTIONS = options;
