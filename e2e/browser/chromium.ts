/** A real browser for tests: the Chromium of the devDependencies, unpacked once, with web security as users have it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

const modules = join(import.meta.dirname, '../../node_modules');

/** The package's own list of arguments would switch web security off; the tests are there to see it at work. */
const args = ['--no-sandbox', '--headless=shell', '--disable-gpu', '--disable-dev-shm-usage'];

export async function launchBrowser(): Promise<Browser> {
  const home = await unpacked();
  return chromium.launch({
    executablePath: join(home, 'chromium'),
    args,
    env: { ...process.env, FONTCONFIG_PATH: join(home, 'fonts') },
  });
}

/** A context with no cookies, storage or cache of another test. Without a locale this build knows none and pages stay blank. */
export const newContext = (browser: Browser): Promise<BrowserContext> => browser.newContext({ locale: 'en-US' });

/**
 * The folder with the unpacked browser. The package unpacks into the temporary folder and takes a file that is there for
 * finished; two test files that start at once would run half a browser. So each unpacks into a folder of its own, and the
 * first to finish gives it the shared name.
 */
async function unpacked(): Promise<string> {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(join(modules, '@sparticuz/chromium/package.json'), 'utf8'),
  );
  const { version } = manifest;
  const cache = join(modules, '.cache');
  const home = join(cache, `chromium-${version}`);
  if (existsSync(home)) return home;
  mkdirSync(cache, { recursive: true });
  const own = mkdtempSync(join(cache, 'chromium-unpacking-'));
  const { TMPDIR } = process.env;
  try {
    process.env.TMPDIR = own;
    await sparticuz.executablePath();
    writeFileSync(join(own, 'fonts/fonts.conf'), fontsConf(home));
    renameSync(own, home);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(home)) throw error;
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  return home;
}

/** The package's own file names folders of a machine that is not this one. */
const fontsConf = (home: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${home}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${home}/fonts-cache</cachedir></fontconfig>
`;
