/**
 * A real browser for tests: the Chromium from devDependencies, unpacked once, with web security enabled as for users.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

const modules = join(import.meta.dirname, '../../node_modules');

/** The package's default arguments disable web security, which these tests need enabled. */
const args = ['--no-sandbox', '--headless=shell', '--disable-gpu', '--disable-dev-shm-usage'];

export async function launchBrowser(): Promise<Browser> {
  const home = await unpacked();
  return chromium.launch({
    executablePath: join(home, 'chromium'),
    args,
    env: { ...process.env, FONTCONFIG_PATH: join(home, 'fonts') },
  });
}

/**
 * A context without cookies, storage or cache from another test. This build has no default locale, and pages stay blank
 * without one.
 */
export const newContext = (browser: Browser): Promise<BrowserContext> => browser.newContext({ locale: 'en-US' });

/**
 * The folder with the unpacked browser. The package unpacks into the temporary folder and treats an existing file as
 * complete. Two test files that start at once would run a partial browser. So each unpacks into its own folder, and the
 * first to finish renames it to the shared name.
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

/** The package's own file names folders that do not exist on this machine. */
const fontsConf = (home: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${home}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${home}/fonts-cache</cachedir></fontconfig>
`;
