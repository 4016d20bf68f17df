/* Links with a whole folder, to prove that it needs only the folders above it (src/meson.build). Never run. */
int main(void) {
    return 0;
}
