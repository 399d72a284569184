namespace machine {}
