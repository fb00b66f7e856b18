/** A page of a front end, bundled with vite as an application would ship it, on an origin of its own. */
import { build } from 'vite';
import { type Site, siteOf } from '../browser/site.ts';

/** `entry`: the file of the page. */
export async function pageSite(entry: string): Promise<Site> {
  const script = await bundled(entry);
  return siteOf((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(
      isScript ? script : '<!doctype html><title>chat</title><body><script type="module" src="/page.js"></script>',
    );
  });
}

async function bundled(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
    // Tests run in a development mode, whose runtime of JSX the production build of React does not have.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    build: {
      write: false,
      minify: true,
      lib: { entry, name: 'page', formats: ['es'] },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const chunk = output !== undefined && 'output' in output ? output.output[0] : undefined;
  if (chunk === undefined) throw new Error('vite built nothing.');
  return chunk.code;
}
