#include "python/sdk.h"

#include "base/files.h"
#include "base/hash.h"
#include "python_sdk_zip.h"

#define SOURCE_SIZE_MAX ((size_t)4 << 20)

/* ---- A folder that someone works on */

static Status identify_folder(Str folder, Arena *arena, Str *identity_out, Error *err) {
    FileEntryVec entries = {0};
    AUTO(strbuf) StrBuf digests = {0};
    TRY(directory_walk(folder, STR("interlace"), arena, &entries, err));
    for (size_t i = 0; i < entries.count; i++) {
        Str path = entries.items[i].path;
        if (entries.items[i].is_directory || !str_ends_with(path, STR(".py"))) {
            continue;
        }
        Str content;
        TRY(file_read(path_join(arena, folder, path), SOURCE_SIZE_MAX, arena, &content, err));
        strbuf_append(&digests, path);
        strbuf_append(&digests, sha256_hex(arena, content));
    }
    if (digests.size == 0) {
        return error_set(err, ERROR_CONFIGURATION, "INTERLACE_SDK_PATH: there is no package 'interlace' in " STR_FMT,
                         STR_ARG(folder));
    }
    *identity_out = sha256_hex(arena, strbuf_str(&digests));
    return OK;
}

/* ---- The package in the binary */

static Str embedded_zip(void) {
    return (Str){(const char *)interlace_sdk_zip, interlace_sdk_zip_size};
}

/* Written under the name of its content: whoever finds it need not look inside. The first worker unpacks it beside
 * that; from a folder Python starts faster. */
static Status unpack_embedded(const ProjectConfig *config, Arena *arena, Sdk *sdk, Error *err) {
    sdk->identity = sha256_hex(arena, embedded_zip());
    Str folder = path_join(arena, config->cache_path, STR("sdk"));
    Str name = str_slice(sdk->identity, 0, 16);
    sdk->path = path_join(arena, folder, name);
    if (file_is_directory(sdk->path)) {
        return OK;
    }
    sdk->path = str_format(arena, STR_FMT ".zip", STR_ARG(sdk->path));
    if (file_exists(sdk->path)) {
        return OK;
    }
    TRY(directory_create_all(folder, err));
    return file_write_atomic(sdk->path, embedded_zip(), false, err);
}

Status sdk_locate(const ProjectConfig *config, Arena *arena, Sdk *sdk_out, Error *err) {
    Sdk sdk = {0};
    Str folder = str_from(getenv("INTERLACE_SDK_PATH"));
    if (folder.size > 0) {
        sdk.path = path_absolute(arena, folder);
        TRY(identify_folder(sdk.path, arena, &sdk.identity, err));
    } else {
        TRY(unpack_embedded(config, arena, &sdk, err));
    }
    *sdk_out = sdk;
    return OK;
}
