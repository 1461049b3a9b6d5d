/** The part of oidc-provider that the tests use; the package has no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    rejectResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }
  interface AccessToken {
    readonly aud: string | string[] | undefined;
    readonly scope: string | undefined;
    readonly accountId: string | undefined;
    readonly clientId: string;
  }
  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{
      readonly prompt: { readonly name: string };
      readonly params: { readonly [name: string]: unknown };
      readonly session?: { readonly accountId: string };
    }>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    readonly Grant: new (fields: {
      readonly accountId: string;
      readonly clientId: string;
    }) => Grant;
    readonly ClientCredentials: { readonly find: (token: string) => Promise<AccessToken | undefined> };
    readonly AccessToken: { find(token: string): Promise<AccessToken | undefined> };
    on(event: string, listener: (...values: readonly unknown[]) => void): this;
  }
}
