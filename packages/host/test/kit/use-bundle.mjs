/** Loaded before the program of a process that a test starts: sources that `host-bundle.ts` bundled come from there. */
import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';

const bundled = JSON.parse(readFileSync(new URL(import.meta.url).searchParams.get('entries'), 'utf8'));

// Some tests start an older Node, which has no such hooks and needs none.
nodeModule.registerHooks?.({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const url = bundled[found.url];
    return url === undefined ? found : { ...found, url, format: 'module' };
  },
});
