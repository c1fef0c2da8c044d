/** The part of WebAssembly that the engine uses; `lib` has it only together with a browser's globals. */
declare namespace WebAssembly {
  class Module {
    private constructor();
    private readonly compiled: true;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
